/** Entry point of a child process that measures the directory trees of volumes, which can take a long time. */
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { measureDiskUsages } from '../../host/usage/diskUsages.ts';

/** Nice value that gives all other work precedence over this process. */
const NICENESS = 10;

setPriority(NICENESS);
// Safe cast, because the parent runs the same program.
const paths = JSON.parse(await text(process.stdin)) as readonly string[];
process.stdout.write(JSON.stringify(await measureDiskUsages(paths)));
