// The flags that `token create` prints, with the token in a file: what is on a command line can be read by everybody.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine, Machines } from './machines.ts';

const form = /^echo (\S+) \| fairlead node (--join .*) --token-file - (--discovery-.*)\n$/;

/** Flags of the command that joins a node or a proxy to the server of the machine. */
export async function joinFlags(
  { directory }: Pick<Machines, 'directory'>,
  server: Machine,
  kubeconfig = 'admin',
): Promise<string> {
  const printed = await server.run(`token create --kubeconfig ${kubeconfig}`);
  const [, token, servers, pins] = form.exec(printed) ?? [];
  if (token === undefined) throw new Error(`not a command that joins: ${printed}`);
  const file = `token-${randomUUID()}`;
  writeFileSync(join(directory, file), `${token}\n`, { mode: 0o600 });
  return `${servers} --token-file ${file} ${pins}`;
}
