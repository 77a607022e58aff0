// `npm start -- FLAGS`: prepares the clone, then runs `fairlead up FLAGS`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare, root } from './prepare.mjs';

prepare();
process.argv.splice(1, 1, join(root, 'bin', 'fairlead'), 'up');
await import(pathToFileURL(join(root, 'dist', 'bundle', 'cli', 'main.js')).href).then(({ main }) =>
  main(process.argv.slice(2)),
);
