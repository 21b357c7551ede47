import { withEveryFault } from './everyFault.ts';

withEveryFault('a pod is resized in place');
