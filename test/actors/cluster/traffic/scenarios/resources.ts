/** Scenarios of pods that do not fit on the node, and of pods that change while they run. */
import type { Scenario } from '../scenario.ts';
import { container } from './pods.ts';

const onPort = (name: string) => container(name, undefined, { ports: [{ containerPort: 9999, hostPort: 9999 }] });

const refused: Scenario = {
  name: '13-refused',
  title: 'pods that the node refuses: by selector, for want of CPU, for a taken port',
  sends: { gets: 8, patches: 5, deletes: 1, events: 7, repeats: 0 },
  namespaces: ['refused'],
  untilMs: 255_000,
  acts: [
    [
      242_328,
      ({ create }) =>
        create('refused/selector', { nodeName: 'node-1', nodeSelector: { no: 'such' }, containers: [container()] }),
    ],
    [
      242_478,
      ({ create }) => {
        const resources = { requests: { cpu: '1000' } };
        return create('refused/cpu', { nodeName: 'node-1', containers: [container('main', undefined, { resources })] });
      },
    ],
    [
      242_636,
      ({ create }) => create('refused/port-a', { nodeName: 'node-1', hostNetwork: true, containers: [onPort('main')] }),
    ],
    [
      245_765,
      ({ create }) => create('refused/port-b', { nodeName: 'node-1', hostNetwork: true, containers: [onPort('main')] }),
    ],
    [248_890, ({ remove }) => remove('refused/cpu')],
    [248_900, ({ remove }) => remove('refused/port-a')],
    [248_910, ({ remove }) => remove('refused/port-b')],
    [248_920, ({ remove }) => remove('refused/selector')],
  ],
};

const ephemeral: Scenario = {
  name: '14-ephemeral',
  title: 'an ephemeral container is added; deleted',
  sends: { gets: 2, patches: 4, deletes: 1, events: 7, repeats: 0 },
  namespaces: ['ephem'],
  untilMs: 270_000,
  acts: [
    [252_056, ({ create }) => create('ephem/e', { containers: [container()] })],
    [
      252_700,
      ({ ask, path }) => {
        const debug = { ...container('dbg', 'sleep 3'), targetContainerName: 'main' };
        return ask(
          'PATCH',
          `${path('ephem/e')}/ephemeralcontainers`,
          { spec: { ephemeralContainers: [debug] } },
          PATCH,
        );
      },
    ],
    [260_680, ({ remove }) => remove('ephem/e')],
  ],
};

const PATCH = 'application/strategic-merge-patch+json';

const withResources = (resources: object) => ({ containers: [container('main', undefined, { resources })] });
const resized = (resources: object) => ({ spec: { containers: [{ name: 'main', resources }] } });

const resize: Scenario = {
  name: '15-resize',
  title: 'resized in place, and one that has to wait for room',
  sends: { gets: 6, patches: 9, deletes: 3, events: 17, repeats: 0 },
  namespaces: ['resize'],
  untilMs: 770_000,
  acts: [
    [
      260_821,
      ({ create }) =>
        create(
          'resize/r',
          withResources({ requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } }),
        ),
    ],
    [
      262_420,
      ({ ask, path }) => {
        const more = resized({ requests: { cpu: '150m' }, limits: { cpu: '300m' } });
        return ask('PATCH', `${path('resize/r')}/resize`, more, PATCH);
      },
    ],
    [280_580, ({ remove }) => remove('resize/r')],
    [740_021, ({ create }) => create('resize/grows', withResources({ requests: { cpu: '100m' } }))],
    [740_152, ({ create }) => create('resize/blocks', withResources({ requests: { cpu: '1' } }))],
    [
      741_760,
      ({ ask, path }) => ask('PATCH', `${path('resize/grows')}/resize`, resized({ requests: { cpu: '1500m' } }), PATCH),
    ],
    [749_860, ({ remove }) => remove('resize/blocks')],
    [762_020, ({ remove }) => remove('resize/grows')],
  ],
};

export const resourceScenarios: readonly Scenario[] = [refused, ephemeral, resize];
