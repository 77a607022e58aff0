// Responses to requests that exceed a limit.

import { type ApiError, failure } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';

/** As Kubernetes': clients retry after a second, with back-off. */
const retryAfterSeconds = 1;

export function tooManyRequests(): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later.',
    details: { retryAfterSeconds },
  });
}

export function tooManyWatches(user: string, limit: number): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: `Too many requests, please try again later. User ${goQuote(user)} has ${limit} watches open, which is the limit.`,
    details: { retryAfterSeconds },
  });
}

export function tooManyTunnels(user: string, limit: number): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: `Too many requests, please try again later. User ${goQuote(user)} has ${limit} connections to nodes open, which is the limit.`,
    details: { retryAfterSeconds },
  });
}

export function tooManyParts(of: string, limit: number): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: `Too many requests, please try again later. ${goQuote(of)} has ${limit} parts connected, which is the limit.`,
    details: { retryAfterSeconds },
  });
}

export function tooManyQuestions(limit: number): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: `Too many requests, please try again later. ${limit} questions to parts are open, which is the limit.`,
    details: { retryAfterSeconds },
  });
}

export function tooManyMeasurements(): ApiError {
  return failure({
    code: 429,
    reason: 'TooManyRequests',
    message: 'Too many requests, please try again later. Too much traffic is being measured.',
    details: { retryAfterSeconds },
  });
}

export function timedOut(): ApiError {
  return failure({
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
    details: {},
  });
}
