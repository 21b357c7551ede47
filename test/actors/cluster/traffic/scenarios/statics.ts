/** Scenarios of static pods and their mirror pods. */
import { IMAGE, type Scenario } from '../scenario.ts';
import { STEADY } from './pods.ts';

const web = (env?: object) => ({
  metadata: { name: 'web', namespace: 'static', labels: { app: 'web' } },
  spec: {
    terminationGracePeriodSeconds: 2,
    containers: [{ name: 'main', image: IMAGE, command: ['sh', '-c', STEADY], ...env }],
  },
});

const statics: Scenario = {
  name: '02-static',
  title: 'a static pod: its mirror is deleted, its manifest changes and goes',
  sends: { gets: 2, patches: 5, deletes: 3, events: 8, repeats: 0 },
  namespaces: ['static'],
  untilMs: 115_000,
  settledMs: 170_000,
  acts: [
    [62_107, ({ manifest }) => manifest('web', web())],
    [83_000, ({ remove }) => remove('static/web-node-1')],
    [84_285, ({ manifest }) => manifest('web', web({ env: [{ name: 'A', value: '1' }] }))],
    [126_000, ({ manifest }) => manifest('web')],
  ],
};

export const staticScenarios: readonly Scenario[] = [statics];
