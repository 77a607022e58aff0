import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiscoveredResource } from '../../client/discovery.ts';
import { findResources, parseTargets } from './find-resource.ts';

function resource(
  plural: string,
  kind: string,
  more: Partial<DiscoveredResource> = {},
): DiscoveredResource {
  return {
    group: '',
    version: 'v1',
    kind,
    plural,
    singular: kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: [],
    subresources: [],
    preferred: true,
    ...more,
  };
}

const all = [
  resource('services', 'Service', { shortNames: ['svc'], categories: ['all'] }),
  resource('events', 'Event', { shortNames: ['ev'] }),
  resource('deployments', 'Deployment', {
    group: 'apps',
    shortNames: ['deploy'],
    categories: ['all'],
  }),
  resource('events', 'Event', { group: 'events.k8s.io', shortNames: ['ev'] }),
  resource('things', 'Thing', { group: 'example.com' }),
  resource('things', 'Thing', { group: 'example.com', version: 'v1beta1', preferred: false }),
];

const found: readonly { words: string; names: readonly string[] }[] = [
  { words: 'services', names: ['services.v1.'] },
  { words: 'service', names: ['services.v1.'] },
  { words: 'svc', names: ['services.v1.'] },
  { words: 'Service', names: ['services.v1.'] },
  { words: 'ev', names: ['events.v1.'] },
  { words: 'events.events.k8s.io', names: ['events.v1.events.k8s.io'] },
  { words: 'deploy.apps', names: ['deployments.v1.apps'] },
  { words: 'things', names: ['things.v1.example.com'] },
  { words: 'things.v1beta1.example.com', names: ['things.v1beta1.example.com'] },
  { words: 'svc,deploy', names: ['services.v1.', 'deployments.v1.apps'] },
  { words: 'all', names: ['services.v1.', 'deployments.v1.apps'] },
];
for (const { words, names } of found) {
  test(`findResources() knows ${words}`, () => {
    assert.deepEqual(
      findResources(all, words).map(
        ({ plural, version, group }) => `${plural}.${version}.${group}`,
      ),
      names,
    );
  });
}

for (const words of ['bogus', 'svc.v1.bogus', 'things.v2.example.com']) {
  test(`findResources() does not know ${words}`, () => {
    const [first] = words.split('.');
    assert.throws(() => findResources(all, words), {
      message: `error: the server doesn't have a resource type "${first}"`,
    });
  });
}

const targets: readonly { words: readonly string[]; texts: readonly string[] }[] = [
  { words: ['svc'], texts: ['services'] },
  { words: ['svc', 'a', 'b'], texts: ['services a', 'services b'] },
  { words: ['svc/a', 'deploy/b'], texts: ['services a', 'deployments b'] },
  { words: ['svc,deploy', 'a'], texts: ['services a', 'deployments a'] },
];
for (const { words, texts } of targets) {
  test(`parseTargets() of ${words.join(' ')}`, () => {
    assert.deepEqual(
      parseTargets(all, words).map(({ resource: { plural }, name }) =>
        name === undefined ? plural : `${plural} ${name}`,
      ),
      texts,
    );
  });
}

for (const word of ['svc/', '/a', 'svc/a/b']) {
  test(`parseTargets() refuses ${word}`, () => {
    assert.throws(() => parseTargets(all, [word]), /single resource and name/);
  });
}
