/** Processes killed by the kernel, in a container and in the whole machine. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import { addPod, inVm, listEvents, podUntil, removePods, run, runningPod, startNode } from './support/host.ts';

const resources = { limits: { memory: '32Mi' } };

beforeAll(() => startNode({ singleProcessOOMKill: true }, '--report-process-oom-kills'));
afterAll(() => removePods('parent', 'victim'));

test('C48: an OOM kill of a child process is an event, and its container continues to run', async () => {
  // The child retries until the kernel has killed it, and only then does the parent create the file.
  const script = `sh -c 'x=$(yes | head -c 200000000); echo $x' > /dev/null; touch /tmp/killed; ${steadily()}`;
  await addPod(podManifest('parent', [shell('main', `mkdir -p /tmp; ${script}`, { resources })]));
  await inVm('the event is recorded', async () =>
    (await listEvents()).some(
      ({ reason, message }) =>
        reason === 'ProcessOOMKilled' &&
        /^the memory limit was reached: the kernel killed process sh \(pid \d+\), which held \d+\.\d MiB; the container continues to run$/.test(
          message,
        ),
    ),
  );
  expect((await runningPod('parent')).status?.containerStatuses).toMatchObject([{ restartCount: 0, lastState: {} }]);
});

test('C48: when the machine runs out of memory, the node has an event, and the container names the process', async () => {
  // A BestEffort pod is the first victim. It holds more memory than any other process with its score.
  const script = steadily('x=$(yes | head -c 60000000)');
  await addPod(podManifest('victim', [shell('main', script)]));
  await runningPod('victim');
  // Triggers the kernel's OOM killer once, as if the memory of the whole machine were exhausted.
  await run('echo f > /proc/sysrq-trigger');
  await inVm('the event is recorded', async () =>
    (await listEvents()).some(
      ({ reason, message }) =>
        reason === 'SystemOOM' && /^System OOM encountered, victim process: \S+, pid: \d+$/.test(message),
    ),
  );
  await podUntil('is OOMKilled', 'victim', ({ status }) => {
    const { state, lastState } = status?.containerStatuses?.[0] ?? {};
    return [state?.terminated, lastState?.terminated].some((terminated) =>
      terminated?.message?.startsWith('the system was out of memory: the kernel killed process sh (pid '),
    );
  });
});
