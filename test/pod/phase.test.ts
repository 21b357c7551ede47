import { describe, expect, test } from '@jest/globals';
import { podPhase } from '../../pod/phase.ts';
import type { PodPhase } from '../../pod/schema/status.ts';
import type { PodView } from '../../pod/view.ts';
import { backOff, ending, exited, podView, running, waiting } from './views.ts';

type Row = readonly [what: string, view: PodView, phase: PodPhase, previous?: PodPhase];

const restart = { willRestart: true };
const never = { spec: { restartPolicy: 'Never' as const } };
const onFailure = { spec: { restartPolicy: 'OnFailure' as const } };
const ended = { ended: true };
const initialized = { initialized: true };
const file = { annotations: { 'kubernetes.io/config.source': 'file' } };
const api = { annotations: { 'kubernetes.io/config.source': 'api' } };
const evicted = ending({ reason: 'Evicted', phase: 'Failed' });

const regular: Row[] = [
  ['nothing seen yet', podView({ main: { a: null } }), 'Pending'],
  ['one waits for its first run', podView({ main: { a: waiting() } }), 'Pending'],
  ['one can not pull', podView({ main: { a: waiting('ImagePullBackOff') } }), 'Pending'],
  ['one runs', podView({ main: { a: running() } }), 'Running'],
  ['one runs and is not ready', podView({ main: { a: running({ ready: false, started: false }) } }), 'Running'],
  ['all run', podView({ main: { a: running(), b: running() } }), 'Running'],
  ['one runs, one not seen yet', podView({ main: { a: running(), b: null } }), 'Pending'],
  ['one runs, one waits for its first run', podView({ main: { a: running(), b: waiting() } }), 'Pending'],
  ['one runs, one in back-off', podView({ main: { a: running(), b: backOff(1) } }), 'Running'],
  ['one runs, one has failed', podView({ main: { a: running(), b: exited(1) }, ...never }), 'Running'],
  ['one runs, one has succeeded', podView({ main: { a: running(), b: exited(0) }, ...never }), 'Running'],
  ['one in back-off', podView({ main: { a: backOff(1) } }), 'Running'],
  ['one in back-off after success', podView({ main: { a: backOff(0) } }), 'Running'],
  ['one exited, about to restart', podView({ main: { a: exited(1, restart) } }), 'Running'],
  ['one exited 0, about to restart', podView({ main: { a: exited(0, restart) } }), 'Running'],
  ['one done, one to restart', podView({ main: { a: exited(0), b: exited(1, restart) }, ...onFailure }), 'Running'],
  ['one failed, one to restart', podView({ main: { a: exited(1), b: exited(1, restart) } }), 'Running'],
  ['one failed, one not seen yet', podView({ main: { a: exited(1), b: null }, ...never }), 'Pending'],
  ['one done, one waits for its first run', podView({ main: { a: exited(0), b: waiting() }, ...never }), 'Pending'],
  ['all succeeded', podView({ main: { a: exited(0), b: exited(0) }, ...never, view: ended }), 'Succeeded'],
  ['all succeeded, OnFailure', podView({ main: { a: exited(0) }, ...onFailure, view: ended }), 'Succeeded'],
  ['all failed', podView({ main: { a: exited(1), b: exited(2) }, ...never, view: ended }), 'Failed'],
  ['one of two failed', podView({ main: { a: exited(0), b: exited(1) }, ...never, view: ended }), 'Failed'],
  [
    'an ephemeral one that failed counts nothing',
    podView({ main: { a: running() }, ephemeral: { e: exited(1) } }),
    'Running',
  ],
  [
    'an ephemeral one that runs counts nothing',
    podView({ main: { a: exited(0) }, ephemeral: { e: running() }, ...never, view: ended }),
    'Succeeded',
  ],
];

const init: Row[] = [
  ['not seen yet', podView({ init: { i: null }, main: { a: null } }), 'Pending'],
  ['waits', podView({ init: { i: waiting() }, main: { a: waiting('PodInitializing') } }), 'Pending'],
  ['runs', podView({ init: { i: running() }, main: { a: waiting('PodInitializing') } }), 'Pending'],
  ['first done, second runs', podView({ init: { i: exited(0), j: running() }, main: { a: waiting() } }), 'Pending'],
  [
    'done, the main one waits',
    podView({ init: { i: exited(0) }, main: { a: waiting() }, view: initialized }),
    'Pending',
  ],
  [
    'done, the main one runs',
    podView({ init: { i: exited(0) }, main: { a: running() }, view: initialized }),
    'Running',
  ],
  [
    'gone from the runtime, but the pod is initialized',
    podView({ init: { i: null }, main: { a: running() }, view: initialized }),
    'Running',
  ],
  ['failed, in back-off', podView({ init: { i: backOff(1) }, main: { a: waiting('PodInitializing') } }), 'Pending'],
  ['failed, to restart', podView({ init: { i: exited(1, restart) }, main: { a: waiting() }, ...onFailure }), 'Pending'],
  [
    'failed for good, ended',
    podView({ init: { i: exited(1) }, main: { a: waiting() }, ...never, view: ended }),
    'Failed',
  ],
  [
    'failed for good, not yet ended',
    podView({ init: { i: exited(1) }, main: { a: waiting() }, ...never }),
    'Pending',
    'Pending',
  ],
  ['runs again in a new sandbox', podView({ init: { i: running() }, main: { a: backOff(1) } }), 'Pending', 'Running'],
];

const sidecars: Row[] = [
  ['not seen yet', podView({ sidecars: { s: null }, main: { a: null } }), 'Pending'],
  ['waits', podView({ sidecars: { s: waiting() }, main: { a: waiting('PodInitializing') } }), 'Pending'],
  ['runs, not started', podView({ sidecars: { s: running({ started: false }) }, main: { a: waiting() } }), 'Pending'],
  ['runs and started, the main one waits', podView({ sidecars: { s: running() }, main: { a: waiting() } }), 'Pending'],
  ['all run', podView({ sidecars: { s: running() }, main: { a: running() }, view: initialized }), 'Running'],
  [
    'restarted, not started, beside a main one that ran',
    podView({ sidecars: { s: running({ started: false }) }, main: { a: running() } }),
    'Running',
  ],
  [
    'in back-off beside a main one',
    podView({ sidecars: { s: backOff(1) }, main: { a: running() }, view: initialized }),
    'Running',
  ],
  [
    'exited with failure, the main one succeeded',
    podView({ sidecars: { s: exited(137) }, main: { a: exited(0) }, ...never, view: { ...initialized, ...ended } }),
    'Succeeded',
  ],
  [
    'exited with success, the main one failed',
    podView({ sidecars: { s: exited(0) }, main: { a: exited(3) }, ...never, view: { ...initialized, ...ended } }),
    'Failed',
  ],
  [
    'still runs, the main one succeeded',
    podView({ sidecars: { s: running() }, main: { a: exited(0) }, ...never, view: initialized }),
    'Running',
  ],
];

const terminal: Row[] = [
  ['Succeeded stays, whatever runs', podView({ main: { a: running() } }), 'Succeeded', 'Succeeded'],
  ['Failed stays, whatever succeeded', podView({ main: { a: exited(0) }, ...never, view: ended }), 'Failed', 'Failed'],
  ['not told before the end: the previous phase', podView({ main: { a: exited(0) }, ...never }), 'Running', 'Running'],
  ['not told before the end: it has run', podView({ main: { a: exited(1) }, ...never }), 'Running'],
  [
    'eviction is not told while a container runs',
    podView({ main: { a: running() }, view: evicted }),
    'Running',
    'Running',
  ],
  [
    'eviction of a pod that never ran is not told before the end',
    podView({ main: { a: waiting() }, view: evicted }),
    'Pending',
  ],
  [
    'eviction is told at the end',
    podView({ main: { a: exited(0) }, view: { ...evicted, ...ended } }),
    'Failed',
    'Running',
  ],
  [
    'a cause that leads to Succeeded',
    podView({ main: { a: exited(1) }, view: { ...ending({ phase: 'Succeeded' }), ...ended } }),
    'Succeeded',
  ],
  [
    'refused',
    podView({ main: { a: null }, view: { refused: { reason: 'OutOfcpu', message: '' }, ...ended } }),
    'Failed',
  ],
  [
    'refused, but something of it still runs',
    podView({ main: { a: running() }, view: { refused: { reason: 'OutOfcpu', message: '' } } }),
    'Running',
  ],
];

const terminated: Row[] = [
  ['ends: still told as running', podView({ main: { a: running() }, view: ending() }), 'Running', 'Running'],
  [
    'ended, exits decide: success',
    podView({ main: { a: exited(0) }, meta: api, view: { ...ending(), ...ended } }),
    'Succeeded',
    'Running',
  ],
  [
    'ended, exits decide: failure',
    podView({ main: { a: exited(137) }, view: { ...ending(), ...ended } }),
    'Failed',
    'Running',
  ],
  [
    'ended before its first run',
    podView({ main: { a: waiting() }, view: { ...ending(), ...ended } }),
    'Failed',
    'Pending',
  ],
  [
    'ended while it initialized',
    podView({ init: { i: exited(143) }, main: { a: waiting() }, view: { ...ending(), ...ended } }),
    'Failed',
    'Pending',
  ],
  ['ended, a container never seen', podView({ main: { a: null }, view: { ...ending(), ...ended } }), 'Failed'],
];

const staticPods: Row[] = [
  [
    'Always: no forced phase',
    podView({ main: { a: exited(137) }, meta: file, view: { ...ending(), ...ended } }),
    'Running',
    'Running',
  ],
  [
    'Always, exit 0: no forced phase',
    podView({ main: { a: exited(0) }, meta: file, view: { ...ending(), ...ended } }),
    'Running',
    'Running',
  ],
  [
    'OnFailure, a failure: no forced phase',
    podView({ main: { a: exited(1) }, ...onFailure, meta: file, view: { ...ending(), ...ended } }),
    'Running',
  ],
  [
    'OnFailure, success',
    podView({ main: { a: exited(0) }, ...onFailure, meta: file, view: { ...ending(), ...ended } }),
    'Succeeded',
  ],
  [
    'Never, a failure',
    podView({ main: { a: exited(1) }, ...never, meta: file, view: { ...ending(), ...ended } }),
    'Failed',
  ],
  ['before its first run', podView({ main: { a: waiting() }, meta: file, view: { ...ending(), ...ended } }), 'Pending'],
  ['evicted all the same', podView({ main: { a: exited(137) }, meta: file, view: { ...evicted, ...ended } }), 'Failed'],
];

function check(rows: readonly Row[]): void {
  for (const [what, view, phase, previous] of rows) {
    test(what, () => expect(podPhase(view, previous)).toBe(phase));
  }
}

describe('C1: regular containers', () => check(regular));

describe('C1: an init container', () => check(init));

describe('C1: a sidecar', () => check(sidecars));

describe('C2: a terminal phase', () => check(terminal));

describe('C2: a pod that is told to end', () => check(terminated));

describe('C24: a static pod that was ended', () => check(staticPods));
