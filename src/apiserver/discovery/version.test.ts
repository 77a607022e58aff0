import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionInfo } from './version.ts';

describe('versionInfo()', () => {
  it('is a semantic version that names both Kubernetes and Fairlead', () => {
    const node = { platform: 'linux', arch: 'x64', nodeVersion: 'v20.12.0' };
    const info = versionInfo({ packageVersion: '0.1.0+dirty', ...node });
    assert.deepEqual([info.major, info.minor, info.platform], ['1', '36', 'linux/amd64']);
    assert.match(info.gitVersion, /^v1\.36\.\d+\+fairlead\.0\.1\.0-dirty$/);
  });
});
