import { withEveryFault } from './everyFault.ts';

withEveryFault('a pod of one run fails, after its init container');
