import { withEveryFault } from './everyFault.ts';

withEveryFault('a pod comes, runs and goes');
