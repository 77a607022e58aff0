// The program itself, for a process in a namespace of the lab.
import { main } from '../../../src/cli/main.ts';

await main(process.argv.slice(2));
