// What the benchmark has of the load tester's engine (client/loadtest).
#pragma once

#include "client/loadtest/figures/arrivals.h"
#include "client/loadtest/figures/histogram.h"
#include "client/loadtest/transport/transport.h"

namespace opserve::bench {

using loadtest::Answer;
using loadtest::Arrivals;
using loadtest::CallDone;
using loadtest::Connection;
using loadtest::Histogram;
using loadtest::Message;
using loadtest::RatePhase;
using loadtest::Spacing;
using loadtest::Stream;
using loadtest::StreamHandler;

}  // namespace opserve::bench
