#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace ntcpmsg::detail {

template <typename Signature>
class InplaceFunction;

/// A callable that is moved, not copied, and takes no memory of its own while it is small: what a
/// request keeps until its reply comes.
template <typename... Args>
class InplaceFunction<void(Args...)> {
 public:
  InplaceFunction() noexcept = default;

  template <typename Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, InplaceFunction> &&
           std::invocable<std::decay_t<Callable>&, Args...>)
      // As std::function, it stands for any callable; the constraint keeps moves out of it.
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
      InplaceFunction(Callable&& callable)
      : InplaceFunction(std::in_place_type<std::decay_t<Callable>>,
                        std::forward<Callable>(callable)) {}

  /// Makes the callable in its place.
  template <typename Stored, typename... Arguments>
  explicit InplaceFunction(std::in_place_type_t<Stored> /*type*/, Arguments&&... arguments) {
    if constexpr (fits<Stored>) {
      emplace<Stored>(std::forward<Arguments>(arguments)...);
    } else {
      emplace<Boxed<Stored>>(std::make_unique<Stored>(std::forward<Arguments>(arguments)...));
    }
  }

  InplaceFunction(InplaceFunction&& other) noexcept { take(other); }
  InplaceFunction& operator=(InplaceFunction&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  ~InplaceFunction() { reset(); }

  explicit operator bool() const noexcept { return actions_ != nullptr; }

  /// Only when there is one.
  void operator()(Args... args) { actions_->call(storage_, std::forward<Args>(args)...); }

  void reset() noexcept {
    if (const Actions* const actions = std::exchange(actions_, nullptr)) {
      if (actions->destroy != nullptr) actions->destroy(storage_);
    }
  }

 private:
  // A reference to the client, one or two of the user's own and a time fit.
  static constexpr std::size_t capacity = 64;

  template <typename Stored>
  static constexpr bool fits =
      // NOLINTNEXTLINE(misc-redundant-expression): only for the callables of one file.
      sizeof(Stored) <= capacity &&
      alignof(Stored) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Stored>;

  /// One that does not fit.
  template <typename Stored>
  struct Boxed {
    std::unique_ptr<Stored> callable;
    explicit Boxed(std::unique_ptr<Stored> made) noexcept : callable(std::move(made)) {}
    void operator()(Args... args) { (*callable)(std::forward<Args>(args)...); }
  };

  struct Actions {
    void (*call)(void* stored, Args... args);
    /// Null: the bytes are copied.
    void (*relocate)(void* from, void* to) noexcept;
    /// Null: nothing to do.
    void (*destroy)(void* stored) noexcept;
  };

  template <typename Stored>
  static constexpr Actions actions_of{
      [](void* stored, Args... args) {
        (*static_cast<Stored*>(stored))(std::forward<Args>(args)...);
      },
      std::is_trivially_copyable_v<Stored>
          ? nullptr
          : static_cast<void (*)(void*, void*) noexcept>([](void* from, void* to) noexcept {
              auto* const stored = static_cast<Stored*>(from);
              std::construct_at(static_cast<Stored*>(to), std::move(*stored));
              std::destroy_at(stored);
            }),
      std::is_trivially_destructible_v<Stored>
          ? nullptr
          : static_cast<void (*)(void*) noexcept>(
                [](void* stored) noexcept { std::destroy_at(static_cast<Stored*>(stored)); })};

  template <typename Stored, typename... Arguments>
  void emplace(Arguments&&... arguments) {
    // The address in a variable of its own: the storage holds no Stored yet.
    void* const place = storage_;
    std::construct_at(static_cast<Stored*>(place), std::forward<Arguments>(arguments)...);
    actions_ = &actions_of<Stored>;
  }

  void take(InplaceFunction& other) noexcept {
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_ == nullptr) return;
    if (actions_->relocate != nullptr) {
      actions_->relocate(other.storage_, storage_);
    } else {
      std::memcpy(storage_, other.storage_, capacity);
    }
  }

  const Actions* actions_ = nullptr;
  alignas(std::max_align_t) std::byte storage_[capacity];
};

}  // namespace ntcpmsg::detail
