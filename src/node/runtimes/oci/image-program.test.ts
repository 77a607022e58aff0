import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageConfig } from '../../../images/image-store.ts';
import { imageProgram, type ProgramSpec } from './image-program.ts';

const image: ImageConfig = {
  entrypoint: ['/entry'],
  cmd: ['serve', '-v'],
  env: ['PATH=/own', 'MODE=image', 'odd', '=odd', 'EMPTY=', 'EQUALS=a=b'],
  workingDir: '/srv',
  volumes: ['/data', '/cache/', '/../etc/x', '/'],
  exposedPorts: [],
  labels: {},
  architecture: 'amd64',
  os: 'linux',
};
const { entrypoint: _, cmd: __, workingDir: ___, ...bare } = image;

const spec: ProgramSpec = { command: [], args: [], variables: {}, mounts: [] };

const argvCases: Readonly<
  Record<string, readonly [ImageConfig, Partial<ProgramSpec>, readonly string[]]>
> = {
  'runs entrypoint and arguments of the image': [image, {}, ['/entry', 'serve', '-v']],
  'replaces the arguments': [image, { args: ['test'] }, ['/entry', 'test']],
  'replaces both by a command': [image, { command: ['sh'] }, ['sh']],
  'replaces both by a command with arguments': [
    image,
    { command: ['sh'], args: ['-c', 'x'] },
    ['sh', '-c', 'x'],
  ],
  'runs the arguments of an image without entrypoint': [{ ...bare, cmd: ['sh'] }, {}, ['sh']],
  'has nothing to run where nothing is said': [bare, {}, []],
};

describe('imageProgram()', () => {
  for (const [name, [config, more, wanted]] of Object.entries(argvCases)) {
    it(name, () => {
      assert.deepEqual(imageProgram(config, { ...spec, ...more }, '/root').argv, wanted);
    });
  }

  it('sets variables of the image, then those of the spec', () => {
    const { variables } = imageProgram(
      image,
      { ...spec, hostname: 'web-1', hasTerminal: true, variables: { MODE: 'spec' } },
      '/home/app',
    );
    assert.deepEqual(variables, {
      ...{ PATH: '/own', TERM: 'xterm', HOSTNAME: 'web-1', HOME: '/home/app' },
      ...{ MODE: 'spec', EMPTY: '', EQUALS: 'a=b' },
    });
  });

  it('has a PATH for images without one', () => {
    const { variables } = imageProgram({ ...image, env: [] }, spec, '/');
    assert.equal(variables.PATH, '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin');
  });

  it('takes the working directory of the image, then the root', () => {
    assert.equal(imageProgram(image, spec, '/').workingDir, '/srv');
    assert.equal(imageProgram(bare, spec, '/').workingDir, '/');
    assert.equal(imageProgram(image, { ...spec, workingDir: '/a/../../b' }, '/').workingDir, '/b');
  });

  it('leaves out volumes of the image where the pod mounts its own', () => {
    const mounts = [{ source: '/x', path: '/data', isReadOnly: false }];
    assert.deepEqual(imageProgram(image, { ...spec, mounts }, '/').volumes, ['/cache', '/etc/x']);
  });
});
