import { runModeContract } from '../mode.contract.ts';
import { traits } from './traits.ts';
import { walk } from './walk.ts';

runModeContract({ name: 'ipvs', walk, traits });
