import { withEveryFault } from './everyFault.ts';

withEveryFault('an agent starts again over a pod that runs');
