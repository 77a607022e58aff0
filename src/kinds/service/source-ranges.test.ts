import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import { exampleService } from './example.ts';
import { sourceRangesOf } from './source-ranges.ts';

const cases: readonly (readonly [string, readonly string[], string | undefined, string[]])[] = [
  ['nothing where nothing is said', [], undefined, []],
  ['the field', [' 192.0.2.0/24'], undefined, ['192.0.2.0/24']],
  ['the annotation', [], '192.0.2.0/24, 2001:db8::/32', ['192.0.2.0/24', '2001:db8::/32']],
  ['the field before the annotation', ['192.0.2.0/24'], '198.51.100.0/24', ['192.0.2.0/24']],
  ['nothing of an annotation of blanks', [], ' ', []],
];
for (const [title, loadBalancerSourceRanges, annotation, expected] of cases) {
  test(`sourceRangesOf() is ${title} (API-27)`, () => {
    const annotations = annotation === undefined ? {} : { [sourceRangesAnnotation]: annotation };
    const service = exampleService({
      metadata: { annotations },
      spec: { loadBalancerSourceRanges },
    });
    assert.deepEqual(sourceRangesOf(service), expected);
  });
}
