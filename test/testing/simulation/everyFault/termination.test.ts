import { withEveryFault } from './everyFault.ts';

withEveryFault('a pod is ended that takes its time');
