#pragma once

#include "ntcpmsg/bytes.hpp"
#include "ntcpmsg/endpoint.hpp"
#include "ntcpmsg/error.hpp"
#include "ntcpmsg/error_event.hpp"
#include "ntcpmsg/io_threads.hpp"
#include "ntcpmsg/listener.hpp"
#include "ntcpmsg/message.hpp"
#include "ntcpmsg/options.hpp"
#include "ntcpmsg/session_handle.hpp"
#include "ntcpmsg/single_connection.hpp"
#include "ntcpmsg/single_connection_cable.hpp"
#include "ntcpmsg/statistics.hpp"
