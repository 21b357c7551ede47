import { withEveryFault } from './everyFault.ts';

withEveryFault('a liveness probe ends a container');
