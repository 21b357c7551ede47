import { withEveryFault } from './everyFault.ts';

withEveryFault('a pod that was active for too long is taken away as it ends');
