/** Runs a simulated runtime in its own process, on the socket named in the argument. Calls take no time. */
import { systemClock } from '../../base/time/clock.ts';
import { BUSYBOX_IMAGE } from '../../cri/managed/images/images.ts';
import { createSimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { serveSimulatedRuntime } from '../../cri/simulated/serveSimulatedRuntime.ts';

const [, , socket = ''] = process.argv;
const runtime = createSimulatedRuntime({ clock: systemClock, latency: 0, images: { present: [BUSYBOX_IMAGE] } });
await serveSimulatedRuntime(runtime, socket);
process.stdout.write('ready\n');
