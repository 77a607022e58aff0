// What is measured of the calls to AWS, under upstream's names.
import type { MetricsRegistry } from '../../../observe/metrics.ts';
import type { ObservedCall } from './apply-sdk.ts';
import { isThrottled } from './errors.ts';

/** Prometheus' usual ones, and some for calls that were tried again. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createAwsMetrics(registry: MetricsRegistry): (call: ObservedCall) => void {
  const seconds = registry.histogram({
    name: 'cloudprovider_aws_api_request_duration_seconds',
    help: 'How long calls to AWS took, with all attempts.',
    buckets,
  });
  const errors = registry.counter({
    name: 'cloudprovider_aws_api_request_errors',
    help: 'Calls to AWS that failed after their last attempt.',
  });
  const throttled = registry.counter({
    name: 'cloudprovider_aws_api_throttled_requests_total',
    help: 'Calls to AWS that failed because there were too many.',
  });
  return ({ request, tookMs, error }) => {
    seconds.observe({ request }, tookMs / 1000);
    if (error === undefined) return;
    errors.add({ request });
    if (isThrottled(error)) throttled.add({ operation_name: request });
  };
}
