// Reads all that `doctor -A` reads, and keeps nothing of it: what any program would need for the same objects.
import { openTransport } from '../../src/client/open-transport.ts';
import { readConnection } from '../../src/client/read-kubeconfig.ts';
import { resourceClient } from '../../src/client/rest.ts';
import { namesOf } from '../../src/snapshot/read-snapshot.ts';
import { allSnapshotKinds } from '../../src/snapshot/snapshot.ts';

const [kubeconfig = ''] = process.argv.slice(2);
const transport = openTransport(await readConnection([kubeconfig]));
const caller = { transport, userAgent: 'bench/1.0' };
const nothing = { kind: '', apiVersion: '', metadata: {} };
for (const kind of allSnapshotKinds) {
  await resourceClient(caller, namesOf(kind)).list({
    pageSize: 1000,
    // Objects are parsed, and dropped at once.
    transform: <T>() => nothing as T,
  });
}
await transport.close();
