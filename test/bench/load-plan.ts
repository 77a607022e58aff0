// What a load does, as plain data for the worker that does it, and what it found.
import type { Request } from './client.ts';
import { podBody, podsPath } from './cluster-objects.ts';
import {
  patchBody,
  plainServiceBody,
  serviceBody,
  serviceName,
  servicesPath,
  sliceBody,
  slicesPath,
} from './objects.ts';
import type { Protocol, Target } from './target.ts';

export type Work =
  | 'create'
  | 'create-plain'
  | 'create-slice'
  | 'create-pod'
  | 'patch'
  | 'get'
  | 'list';

export type LoadPlan = {
  readonly target: Target;
  readonly protocol: Protocol;
  readonly clients: number;
  readonly work: Work;
  /** Requests in all, shared by the clients. */
  readonly requests: number;
  /** Number of the first object; patches and gets go round `objects` of them. */
  readonly first: number;
  readonly objects: number;
  /** Told apart from other loads by this, so that every patch changes something. */
  readonly salt: string;
};

export type LoadResult = {
  readonly seconds: number;
  /** One for each request, in milliseconds, in the order of the answers. */
  readonly latencies: Float64Array;
  /** Of the last answer. */
  readonly bytes: number;
};

export function requestFor({ work, first, objects, salt }: LoadPlan, index: number): Request {
  const json = 'application/json';
  const number = first + (index % objects);
  switch (work) {
    case 'create':
      return {
        method: 'POST',
        path: servicesPath,
        contentType: json,
        body: serviceBody(first + index),
      };
    case 'create-plain':
      return {
        method: 'POST',
        path: servicesPath,
        contentType: json,
        body: plainServiceBody(first + index),
      };
    case 'create-slice':
      return {
        method: 'POST',
        path: slicesPath,
        contentType: json,
        body: sliceBody(first + index),
      };
    case 'create-pod':
      return { method: 'POST', path: podsPath, contentType: json, body: podBody(first + index) };
    case 'patch':
      return {
        method: 'PATCH',
        path: `${servicesPath}/${serviceName(number)}`,
        contentType: 'application/merge-patch+json',
        body: patchBody(`${salt}-${index}`),
      };
    case 'get':
      return { method: 'GET', path: `${servicesPath}/${serviceName(number)}` };
    case 'list':
      return { method: 'GET', path: servicesPath };
  }
}
