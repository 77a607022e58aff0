// The only place that maps a StoreError to an API error.
import {
  type ApiError,
  expired,
  failure,
  internal,
  serviceUnavailable,
  tooLarge,
} from '../../meta/api-error.ts';
import type { StoreError } from '../../storage/store-error.ts';

export function storeToApiError(error: StoreError): ApiError {
  switch (error.reason) {
    case 'compacted':
      return expired('The resourceVersion for the provided list is too old.');
    case 'future':
      return failure({ code: 504, reason: 'Timeout', message: `Timeout: ${error.message}` });
    case 'full':
      return failure({ code: 507, reason: 'InsufficientStorage', message: error.message });
    case 'large':
      return tooLarge(error.message);
    case 'closed':
    case 'unavailable':
      return serviceUnavailable(error.message);
    case 'locked':
    case 'damaged':
    case 'foreign':
      return internal(error.message);
  }
}
