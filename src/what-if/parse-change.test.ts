import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChangeError } from './change.ts';
import { type ChangeWord, parseChange } from './parse-change.ts';

describe('parseChange()', () => {
  const cases: readonly (readonly [ChangeWord, string, object])[] = [
    ['drain', 'node/n1', { kind: 'drain', node: 'n1' }],
    ['cordon', 'no/n1.example.com', { kind: 'cordon', node: 'n1.example.com' }],
    ['delete', 'pod/web-1', { target: { kind: 'Pod', namespace: 'here', name: 'web-1' } }],
    ['delete', 'svc/shop/web', { target: { kind: 'Service', namespace: 'shop', name: 'web' } }],
    [
      'delete',
      'Deployments.apps/web',
      { target: { kind: 'Deployment', namespace: 'here', name: 'web' } },
    ],
    ['delete', 'ns/shop', { target: { kind: 'Namespace', name: 'shop' } }],
    ['scale', 'deploy/web=0', { replicas: 0 }],
    ['scale', 'sts/shop/db=-1', { replicas: -1 }],
    ['set', 'svc/web:ports[name=http].port=81', { path: 'ports[name=http].port', value: '81' }],
    ['set', 'svc/web:selector[a/b]=x=y', { path: 'selector[a/b]', value: 'x=y' }],
    ['set', 'svc/web:externalName=', { path: 'externalName', value: '' }],
    ['unready', 'po/web-1', { kind: 'unready' }],
  ];
  for (const [word, text, want] of cases) {
    it(`takes --${word} ${text}`, () => {
      const change = parseChange(word, text, 'here');
      assert.deepEqual({ ...change, ...want }, change);
    });
  }

  const refused: readonly (readonly [ChangeWord, string, RegExp])[] = [
    ['drain', 'n1', /want node\/NAME/],
    ['drain', 'pod/n1', /--drain takes node, no pod/],
    ['drain', 'node/a/b', /want node\/NAME/],
    ['delete', 'pod/', /want KIND/],
    ['delete', 'secret/x', /want KIND/],
    ['delete', 'svc/a/b/c', /want KIND/],
    ['delete', 'svc/../web', /want KIND/],
    ['scale', 'deploy/web', /want .*deploy\/web=2/],
    ['scale', 'deploy/web=two', /want/],
    ['scale', 'deploy/web=99999999999', /want/],
    ['scale', 'svc/web=2', /--scale takes deployment/],
    ['set', 'svc/web', /want/],
    ['set', 'svc/web:=x', /want/],
    ['set', 'ns/web:a=b', /--set takes service/],
    ['unready', 'svc/web', /--unready takes pod, no service/],
    ['delete', 'pod/\u001b[31mred', /"pod\/\\x1b\[31mred"/],
    ['delete', `pod/${'a'.repeat(20_000)}`, /…"/],
  ];
  for (const [word, text, why] of refused) {
    it(`refuses --${word} ${JSON.stringify(text.slice(0, 40))}`, () => {
      assert.throws(
        () => parseChange(word, text, 'here'),
        (error) =>
          error instanceof ChangeError && why.test(error.message) && error.message.length < 400,
      );
    });
  }
});
