/** Runs `run` or `up` with a node agent that only reports the calls that it receives. */

import { run } from '../../cli/commands/run/run.ts';
import { type UpDependencies, up } from '../../cli/commands/run/up.ts';
import { involvedNode, involvedPod, recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import { readFlags } from '../../node/config/flags.ts';
import type { StartNode } from '../../node/start/startNode.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { podView, running, sandbox } from '../kubernetes/views.ts';

const [command, directory = '', ...modes] = process.argv.slice(2);
const print = (text: string) => void process.stdout.write(`${text}\n`);

if (modes.includes('withoutRoot')) process.getuid = () => 1000;

const startNode: StartNode = async ({ config, isSimulated }) => {
  print(`started over ${config.containerRuntimeEndpoint}${isSimulated ? ' (simulated)' : ''}`);
  const view = podView({
    main: { web: running() },
    meta: { name: 'web-host' },
    spec: { nodeName: 'host' },
    view: { sandbox: sandbox('10.1.0.2') },
  });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  if (modes.includes('fails')) failed.reject(new Error('the agent has failed'));
  const now = Date.now();
  const problem = { path: 'spec.a', message: 'wrong', until: 'the file changes' };
  const problems = Array.from({ length: 9 }, (_, index) => ({ ...problem, file: `/pods/${index}.yaml` }));
  const warnings = [{ file: '/pods/web.yaml', path: 'spec.imge', message: 'unknown field', pod: 'default/web-host' }];
  const odd = modes.includes('odd') ? { problems, warnings } : {};
  const agent = fakeAgent({
    now,
    views: [view],
    node: { simulated: isSimulated, ...odd },
    podLogs: `${directory}/logs`,
  });
  const note = { reason: 'Started', message: 'Container started' };
  agent.record({
    ...recordedEvent(involvedNode('host'), { reason: 'Starting', message: 'Starting kubelet.' }),
    at: now,
  });
  agent.record({ ...recordedEvent(involvedPod(view.pod, { name: 'web', role: 'regular' }), note), at: now });
  const warning = { eventType: 'Warning', reason: 'FailedMount', message: 'no such disk' } as const;
  agent.record({ ...recordedEvent(involvedPod(view.pod), warning), at: now });
  return {
    agent,
    drain: async () => {
      print('draining');
      if (modes.includes('slowDrain')) await new Promise((resolve) => setTimeout(resolve, 30_000));
    },
    stop: async () => print('agent stopped'),
    agentFailure: failed.promise,
  };
};

const startRuntime: UpDependencies['startRuntime'] = async (place, { onProgress }) => {
  onProgress(`starting a runtime in ${place}`);
  return {
    endpoint: 'unix:///own.sock',
    cgroupParent: '/own',
    stop: async () => print('runtime stopped'),
    undo: async () => print('runtime undone'),
    restart: () => {},
    detach: () => print('runtime let go'),
  };
};

try {
  const config = modes.find((mode) => mode.endsWith('.yaml'));
  const common = { '--config': config, '--hostname-override': 'host' };
  if (command === 'run') {
    const once = modes.includes('once') ? { '--runonce': true, '--pod-manifest-path': directory } : {};
    await run(readFlags({ ...common, ...once, '--root-dir': directory }), startNode, (text) =>
      process.stdout.write(text),
    );
  } else
    await up(readFlags({ ...common, '--state-dir': directory }), { startNode, startRuntime, output: process.stdout });
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
