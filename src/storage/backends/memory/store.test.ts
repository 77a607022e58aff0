import { runStoreContract } from '../../store.contract.ts';
import { openMemoryStore } from './store.ts';

runStoreContract('memory', async (clock) => {
  const store = openMemoryStore(clock);
  return { store, cleanup: () => store.close() };
});
