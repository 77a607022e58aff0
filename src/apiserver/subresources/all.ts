// Handlers of subresources, by name and verb. Other subresources, like status, are updates of the object under
// their own rules.

import { requestToken } from '../tokens/token-request.ts';
import type { VerbHandler } from '../verbs/call.ts';
import { bind } from './binding.ts';
import { attach, exec, forwardPorts } from './connect.ts';
import { evict } from './eviction.ts';
import { getLog } from './log.ts';
import { proxy } from './proxy.ts';
import { getScale, patchScale, updateScale } from './scale.ts';

export const subresourceHandlers: Readonly<Record<string, Readonly<Record<string, VerbHandler>>>> =
  {
    attach: { get: attach, create: attach },
    binding: { create: bind },
    eviction: { create: evict },
    exec: { get: exec, create: exec },
    log: { get: getLog },
    portforward: { get: forwardPorts, create: forwardPorts },
    token: { create: requestToken },
    proxy: {
      get: proxy,
      create: proxy,
      update: proxy,
      patch: proxy,
      delete: proxy,
      options: proxy,
    },
    scale: { get: getScale, update: updateScale, patch: patchScale },
  };
