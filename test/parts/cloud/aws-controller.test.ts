// The service controller with the AWS provider: how invalid annotations are reported.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { annotation } from '../../../src/cloud/providers/aws/annotations.ts';
import { makeAwsProvider } from '../../../src/cloud/providers/aws/run.ts';
import { type AwsWorld, startAwsWorld } from '../../aws/aws-world.ts';
import { type CloudHarness, startCloudHarness } from '../harness/cloud-harness.ts';

let harness: CloudHarness;
let world: AwsWorld;
before(async () => {
  world = await startAwsWorld();
  harness = await startCloudHarness();
});
after(async () => {
  await harness.stop();
  await world.stop();
});

test('an event names the annotation and the allowed range, and nothing is made (LBC-07, LBC-33)', async () => {
  const annotations = { [annotation.healthyThreshold]: '11' };
  await harness.create('web', {}, { annotations });
  harness.start({ makeProvider: makeAwsProvider, settings: world.settings });
  const says = `Annotation "${annotation.healthyThreshold}" is "11", but must be a number from 2 to 10`;
  await harness.until('an event', async () =>
    (await harness.events('web')).some((event) => event.includes(says)),
  );
  assert.equal(world.emulator.callCount(), 0);
  assert.equal(await harness.addresses('web'), '');
});
