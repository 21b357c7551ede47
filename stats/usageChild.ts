/** A process of its own, which walks the trees of volumes: that takes as long as they are large. */
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { diskUsagesOf } from '../host/usage/diskUsages.ts';

/** Whatever else there is to do goes first. */
const NICENESS = 10;

setPriority(NICENESS);
// Of the same program, so they are what they are said to be.
const paths = JSON.parse(await text(process.stdin)) as readonly string[];
process.stdout.write(JSON.stringify(await diskUsagesOf(paths)));
