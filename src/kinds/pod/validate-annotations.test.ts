import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePod } from './example.ts';
import { validatePodCreate, validatePodUpdate } from './validate.ts';
import { validatePodStatusUpdate } from './validate-status.ts';

const cost = 'controller.kubernetes.io/pod-deletion-cost';
const tolerations = 'scheduler.alpha.kubernetes.io/tolerations';
const mirror = 'kubernetes.io/config.mirror';
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/';
const at = (key: string) => `metadata.annotations[${key}]`;

const pod = (annotations: object) => examplePod({ metadata: { annotations } });

const created: readonly (readonly [string, object, readonly string[]])[] = [
  ['a cost', { [cost]: '-12' }, []],
  [
    'a cost with a plus',
    { [cost]: '+1' },
    [`${at(cost)}: Invalid value: "+1": must be a 32bit integer`],
  ],
  [
    'a cost with zeros',
    { [cost]: '01' },
    [`${at(cost)}: Invalid value: "01": must be a 32bit integer`],
  ],
  [
    'a cost of 33 bits',
    { [cost]: '2147483648' },
    [`${at(cost)}: Invalid value: "2147483648": must be a 32bit integer`],
  ],
  [
    'a mirror without a node',
    { [mirror]: 'x' },
    [`${at(mirror)}: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`],
  ],
  ['old tolerations', { [tolerations]: '[{"key":"a","Operator":"Exists","effect":null}]' }, []],
  [
    'old tolerations that are no JSON',
    { [tolerations]: 'x' },
    [
      `metadata.annotations: Invalid value: "${tolerations}": invalid character 'x' looking for beginning of value`,
    ],
  ],
  [
    'old tolerations that are no list',
    { [tolerations]: '{}' },
    [
      `metadata.annotations: Invalid value: "${tolerations}": json: cannot unmarshal object into Go value of type []core.Toleration`,
    ],
  ],
  [
    'old tolerations with a number for a text',
    { [tolerations]: '[{"key":1}]' },
    [
      `metadata.annotations: Invalid value: "${tolerations}": json: cannot unmarshal number into Go struct field Toleration.Key of type string`,
    ],
  ],
  [
    'old tolerations that are wrong',
    { [tolerations]: '[{"key":"a","effect":"x"}]' },
    [
      `metadata.annotations.${tolerations}[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
    ],
  ],
  ['a filter of system calls', { [seccomp]: 'runtime/default' }, []],
  [
    'an unknown filter of system calls',
    { [seccomp]: 'x' },
    [`metadata.annotations.${seccomp}: Invalid value: "x": must be a valid seccomp profile`],
  ],
  ['a profile', { [`${appArmor}app`]: 'localhost/x' }, []],
  [
    'a profile of a container that is not there, under no known name',
    { [`${appArmor}b`]: 'x' },
    [
      `${at(`${appArmor}b`)}: Invalid value: "b": container not found`,
      `${at(`${appArmor}b`)}: Invalid value: "x": invalid AppArmor profile name: "x"`,
    ],
  ],
];

for (const [name, annotations, wanted] of created) {
  test(`validatePodCreate() validates annotations: ${name}`, () => {
    assert.deepEqual(validatePodCreate(pod(annotations)).map(errorText), wanted);
  });
}

const updated: readonly (readonly [string, object, object, readonly string[]])[] = [
  ['a cost that was none already', { [cost]: 'x' }, { [cost]: 'y' }, []],
  [
    'a cost that becomes none',
    { [cost]: '1' },
    { [cost]: 'y' },
    [`${at(cost)}: Invalid value: "y": must be a 32bit integer`],
  ],
  [
    'an added profile',
    {},
    { [`${appArmor}app`]: 'unconfined' },
    [`${at(`${appArmor}app`)}: Forbidden: may not add AppArmor annotations`],
  ],
  [
    'a removed profile',
    { [`${appArmor}app`]: 'unconfined' },
    {},
    [`${at(`${appArmor}app`)}: Forbidden: may not remove or update AppArmor annotations`],
  ],
  [
    'a removed mirror',
    { [mirror]: 'x' },
    {},
    [`${at(mirror)}: Forbidden: may not remove or update mirror pod annotation`],
  ],
];

for (const [name, before, after, wanted] of updated) {
  test(`updates of pods and their status validate annotations: ${name}`, () => {
    const texts = [...new Set(validatePodUpdate(pod(before), pod(after)).map(errorText))];
    assert.deepEqual(texts, wanted);
    assert.deepEqual(validatePodStatusUpdate(pod(before), pod(after)).map(errorText), wanted);
  });
}
