import { describe, expect, test } from '@jest/globals';
import { type Controls, INITIAL_CONTROLS } from '../../../../cli/terminal/table/controls.ts';
import {
  type Frame,
  renderFinal,
  renderFrame,
  type Scene,
  type Surface,
} from '../../../../cli/terminal/table/render.ts';
import { displayWidth } from '../../../../show/tables/displayWidth.ts';
import type { NodeSummary } from '../../../../socket/agent.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import {
  backOff,
  exited,
  NOW,
  podView,
  run,
  running,
  type ShownPod,
  sandbox,
  seenPod,
  volumeView,
  waiting,
} from '../../../kubernetes/views.ts';
import { ESC } from '../../../support/escape.ts';

const web = podView({
  main: {
    server: running({ state: 'running.steady', since: NOW - 12_000 }),
    content: running({ state: 'running', since: NOW - 11_000 }),
  },
  meta: { name: 'web-host', uid: 'a' },
  view: { sandbox: sandbox('10.88.0.5'), volumes: [volumeView('pages')], since: NOW - 11_000 },
});
const crash = podView({
  main: {
    fail: backOff(1, {
      state: 'ended.backingOff',
      since: NOW - 3000,
      restartCount: 2,
      waitingFor: 'the back-off before the next start',
      until: NOW + 17_000,
      lastFailure: { reason: 'RuntimeError', message: 'exit code 1', at: NOW - 3000 },
    }),
  },
  meta: { name: 'crash-host', uid: 'b' },
  view: { sandbox: sandbox('10.88.0.6') },
});
const job = podView({
  main: { job: exited(0, { state: 'stopped' }) },
  meta: { name: 'job-host', uid: 'c', namespace: 'batch' },
  spec: { restartPolicy: 'Never' },
  view: { state: 'terminated', hasEnded: true },
});
const late = podView({
  main: { app: waiting('ContainerCreating', { state: 'pending.waiting' }) },
  meta: { name: 'late-host', uid: 'd' },
  view: {
    state: 'preparing',
    since: NOW - 130_000,
    waitingFor: 'its volumes',
    volumes: [volumeView('data', { state: 'mounting', mounted: false, waitingFor: 'the mount', until: NOW + 30_000 })],
  },
});

interface Setting {
  readonly controls?: Partial<Controls>;
  readonly node?: Partial<NodeSummary>;
  readonly log?: readonly string[];
}

function sceneOf(views: readonly ShownPod[], { controls = {}, node = {}, log = [] }: Setting = {}): Scene {
  const agent = fakeAgent({ now: NOW, views, node });
  const pods = views.map((view) => seenPod(view, ['192.0.2.1']));
  return { node: agent.node(), pods, log, now: NOW, controls: { ...INITIAL_CONTROLS, ...controls } };
}

const on = (width: number, height: number): Surface => ({ width, height, colour: false });

const frame = (views: readonly ShownPod[], surface: Surface, setting?: Setting): Frame =>
  renderFrame(sceneOf(views, setting), surface);

/** Returns the nonempty lines of the table and of what is below it. */
const rowsOf = ({ lines }: Frame) => lines.slice(2, -1).filter((line) => line.trim() !== '');

const names = (views: readonly ShownPod[], surface: Surface, setting?: Setting) =>
  rowsOf(frame(views, surface, setting)).map((line) => line.split(/ {2,}/)[0]);

const all = [web, crash, job, late];

const ending = (until?: number): Partial<NodeSummary> => ({
  state: 'draining',
  waitingFor: 'its pods to terminate',
  ...(until === undefined ? {} : { until }),
});

describe('the live table', () => {
  test('on a wide terminal shows the pods with problems first, and the reason of each problem', () => {
    expect(rowsOf(frame(all, on(140, 30)))).toEqual([
      'crash-host      CrashLoopBackOff   running           2m10s         2  10.88.0.6',
      '└ fail          CrashLoopBackOff   ended.backingOff     3s         2             exit code 1 after 30s; restart in 17s',
      'late-host       ContainerCreating  preparing         2m10s         0',
      '├ volume data   Mounting           mounting           2m9s                       waiting for the mount (30s left)',
      '└ app           ContainerCreating  pending.waiting     60s         0',
      'web-host        Running            running             11s         0  10.88.0.5',
      '├ server        Running            running             12s         0',
      '├ content       Running            running             11s         0',
      '└ volume pages  Mounted            mounted            2m9s',
      'batch/job-host  Completed          terminated        2m10s         0',
      '└ job           Completed          stopped             60s         0',
    ]);
  });

  test.each([
    ['unmounting', ['working', 'leaving'], 'Unmounting'],
    ['unmounted', ['done', 'leaving'], 'Unmounted'],
  ])('does not show a volume that is %s as mounting', (state, tags, status) => {
    const volume = volumeView('data', { state, tags, mounted: false });
    const ended = podView({
      main: { job: exited(0, { state: 'stopped' }) },
      spec: { restartPolicy: 'Never' },
      view: { state: 'terminated', hasEnded: true, volumes: [volume] },
    });
    expect(rowsOf(frame([ended], on(140, 30))).find((row) => row.includes('volume data'))).toContain(` ${status} `);
  });

  test('does not show an earlier mount failure as an unmount failure', () => {
    const at = { tags: ['retrying', 'leaving'], mounted: false };
    const lastFailure = (reason: 'FailedMount' | 'FailedUnmount') => ({ reason, message: 'device busy', at: NOW });
    const volumes = [
      volumeView('old', { ...at, lastFailure: lastFailure('FailedMount') }),
      volumeView('new', { ...at, lastFailure: lastFailure('FailedUnmount') }),
    ];
    const rows = rowsOf(frame([podView({ main: { app: running() }, view: { volumes } })], on(140, 30)));
    expect(rows.find((row) => row.includes('volume old'))).toContain(' Unmounting ');
    expect(rows.find((row) => row.includes('volume new'))).toContain(' FailedUnmount ');
  });

  test.each<[string, readonly ShownPod[], Partial<NodeSummary>]>([
    [
      'node host starting · waiting for the runtime to list its pods',
      [],
      {
        state: 'starting',
        waitingFor: 'the runtime to list its pods',
        runtime: { name: '', version: '', state: 'not ready' },
      },
    ],
    [
      'node host starting · 0/1 pods running · container runtime not ready for 5s: nobody listens',
      [late],
      {
        state: 'starting',
        waitingFor: 'the runtime to list its pods',
        runtime: { name: '', version: '', state: 'not ready', since: NOW - 5_000, message: 'nobody listens' },
      },
    ],
    ['node host draining · 2 pods terminating, up to 57s · containerd', [web, late], ending(NOW + 57_000)],
    ['node host draining · 1 pod terminating · containerd', [web], ending()],
    ['node host stopped · no pods left · containerd', [], { state: 'stopped', tags: ['done', 'ending'] }],
  ])('starts with the line: %s', (words, views, node) => {
    const [line = ''] = frame(views, on(100, 30), { node }).lines;
    expect(line.startsWith(words)).toBe(true);
    expect(line).not.toMatch(/\dy\b| {2}/);
  });

  test('at 80 columns retains the reason', () => {
    const { lines } = frame(all, on(80, 30));
    expect(lines[0]).toBe('node host running · 1/4 pods running, 1 completed, 1 in CrashLoopBackOff');
    expect(lines[1]).toBe('NAME            STATUS             SINCE  REASON');
    expect(lines[3]).toBe('└ fail          CrashLoopBackOff      3s  exit code 1 after 30s; restart in 17s');
    expect(lines.at(-1)).toMatch(/^↑↓ scroll {2}s sort {2}\/ filter .* Ctrl-C end *$/);
  });

  test('shows why the runtime is not ready on a separate line if the first line is too short', () => {
    const runtime = { name: 'containerd', version: '2.1', state: 'not ready', since: NOW - 5_000 } as const;
    const { lines } = frame(all, on(60, 30), { node: { runtime: { ...runtime, message: 'no CNI network' } } });
    expect(lines.slice(0, 3)).toEqual([
      'node host running · 1/4 pods running, 1 completed, 1 in Cra…',
      'containerd 2.1 not ready for 5s: no CNI network',
      expect.stringMatching(/^NAME /),
    ]);
  });

  test('at 60 columns retains the status and truncates the reason', () => {
    const { lines } = frame(all, on(60, 30));
    expect(lines[1]).toBe('NAME            STATUS             REASON');
    expect(lines[3]).toBe('└ fail          CrashLoopBackOff   exit code 1 after 30s; r…');
    expect(lines[5]).toBe('├ volume data   Mounting           waiting for the mount (3…');
  });

  test('without room for a reason retains names and statuses', () => {
    const { lines } = frame(all, on(40, 30));
    expect(lines[1]).toBe('NAME            STATUS');
    expect(lines.slice(2).some((line) => line.includes('CrashLoopBackOff'))).toBe(true);
  });

  test.each([1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 200])(
    'has no line wider than a terminal of %i columns (at least 2)',
    (width) => {
      const wide = podView({ main: { 日本語: backOff(1) }, meta: { name: '東京-e\u0301', uid: 'j' } });
      for (const page of ['table', 'log', 'help'] as const) {
        const { lines } = frame([...all, wide], on(width, 30), { controls: { page }, log: ['日本語'.repeat(50)] });
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(2, width));
      }
    },
  );

  test.each([1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 20, 50])('fills a terminal of %i rows exactly', (height) => {
    const problems = Array.from({ length: 9 }, (_, index) => ({ file: `/${index}`, path: '', message: 'x' }));
    for (const page of ['table', 'log', 'help'] as const) {
      const setting = { controls: { page }, node: { problems }, log: ['one', 'two'] };
      expect(frame(all, on(80, height), setting).lines).toHaveLength(height);
    }
  });

  test('aligns wide characters in columns', () => {
    const wide = podView({ main: { app: running() }, meta: { name: '東京', uid: 'j' } });
    const columns = rowsOf(frame([web, wide], on(140, 30), { controls: { detailLevel: 'pods' } })).map((line) =>
      displayWidth(line.slice(0, line.indexOf('Running'))),
    );
    expect(new Set(columns).size).toBe(1);
  });

  test('reports that there are no pods', () => {
    const theirs = { uid: 'u9', namespace: 'default', name: 'theirs', why: 'no mark', sandboxes: ['s9'] };
    expect(rowsOf(frame([], on(80, 30), { node: { foreign: [theirs] } }))).toEqual([
      '1 pod that this agent did not create: left alone, see "statelet explain node"',
    ]);
    expect(frame([], on(80, 30)).lines[1]).toBe('no pods');
  });

  test('labels a simulated runtime', () => {
    expect(frame([web], on(80, 30), { node: { simulated: true } }).lines[1]).toBe(
      'SIMULATED runtime: no real containers run',
    );
  });

  test('lists manifests with problems, or counts them if there are many', () => {
    const problem = { file: '/etc/pods/a.yaml', path: 'spec.containers', message: 'required' };
    const below = (count: number) =>
      rowsOf(frame([], on(80, 30), { node: { problems: Array.from({ length: count }, () => problem) } }));
    expect(below(1)).toEqual(['! /etc/pods/a.yaml: spec.containers: required']);
    expect(below(10).at(-1)).toBe('! and 8 more: see "statelet explain node"');
  });

  test('shortens a long path at its start so that the problem is visible', () => {
    const file = `/etc/${'directory/'.repeat(400)}10-web.yaml`;
    const problem = { file, path: 'spec.containers', message: 'Required value' };
    const node = { problems: [problem], warnings: [{ ...problem, path: '', message: 'odd' }] };
    const [wrong = '', odd = ''] = rowsOf(frame([], on(80, 30), { node }));
    expect(wrong).toMatch(/^! ….*\/10-web\.yaml: spec\.containers: Required value$/);
    expect(odd).toMatch(/^! warning: ….*\/10-web\.yaml: odd$/);
    expect([wrong, odd].map((line) => line.length)).toEqual([80, 80]);
  });

  test('shows a problem of the node itself in the same place', () => {
    const node = { trouble: '/var/lib/statelet/run/statelet has been removed' };
    expect(rowsOf(frame([], on(80, 30), { node }))).toEqual(['! /var/lib/statelet/run/statelet has been removed']);
  });

  test('shows warnings with their pods below the problems, or counts them if there are many', () => {
    const ofPod = { file: '/etc/pods/a.yaml', path: 'spec.imge', message: 'unknown field', pod: 'default/web-host' };
    const ofPath = { file: '/etc/pods', path: '', message: 'no such file or directory' };
    const below = (warnings: NodeSummary['warnings']) => rowsOf(frame([], on(80, 30), { node: { warnings } }));
    expect(below([ofPod, ofPath])).toEqual([
      '! warning: pod web-host: spec.imge: unknown field',
      '! warning: /etc/pods: no such file or directory',
    ]);
    expect(below(Array.from({ length: 9 }, () => ofPod)).at(-1)).toBe('! and 8 more: see "statelet explain node"');
  });

  test('shows the last log lines at the bottom', () => {
    const log = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(names([job], on(80, 30), { log }).slice(-5)).toEqual(['b', 'c', 'd', 'e', 'f']);
  });
});

describe('a terminal with too few lines', () => {
  const shown = (height: number) => names(all, on(80, height));

  test('first hides mounted volumes', () => {
    expect(shown(14)).toContain('└ volume pages');
    expect(shown(13)).not.toContain('└ volume pages');
    expect(shown(13)).toEqual(expect.arrayContaining(['├ volume data', '├ server', '└ content']));
  });

  test('then hides all actors without a problem', () => {
    expect(shown(12)).toEqual([
      'crash-host',
      '└ fail',
      'late-host',
      '├ volume data',
      '└ app',
      'web-host',
      'batch/job-host',
    ]);
  });

  test('then shows only the pods with their problems', () => {
    const rows = rowsOf(frame(all, on(80, 7)));
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatch(/^crash-host .* fail: exit code 1 after 30s;/);
  });

  test('finally scrolls, and shows the position', () => {
    expect(shown(5)).toEqual(['crash-host', 'late-host']);
    expect(frame(all, on(80, 5)).lines.at(-1)).toMatch(/^1-2 of 4 /);
    const end = frame(all, on(80, 5), { controls: { offset: 99 } });
    expect(rowsOf(end).map((line) => line.split(' ')[0])).toEqual(['web-host', 'batch/job-host']);
    expect(end.lines.at(-1)).toMatch(/^3-4 of 4 /);
  });
});

describe('key selections', () => {
  const pods = (controls: Partial<Controls>) =>
    names(all, on(80, 30), { controls: { detailLevel: 'pods', ...controls } });

  test('determine the order of the pods', () => {
    expect(pods({})).toEqual(['crash-host', 'late-host', 'web-host', 'batch/job-host']);
    expect(pods({ sortOrder: 'name' })).toEqual(['batch/job-host', 'crash-host', 'late-host', 'web-host']);
    expect(pods({ sortOrder: 'restarts' })[0]).toBe('crash-host');
    expect(pods({ sortOrder: 'age' })[0]).toBe('web-host');
    expect(pods({ sortOrder: 'name', isReversed: true })[0]).toBe('web-host');
  });

  test('sort a recently failed pod before the healthy ones even between two runs', () => {
    const again = podView({
      main: { fail: running({ lastRun: run(1), restartCount: 3 }) },
      meta: { name: 'z-again-host', uid: 'z' },
    });
    expect(names([web, again], on(80, 30), { controls: { detailLevel: 'pods' } })[0]).toBe('z-again-host');
  });

  test.each([
    ['WEB', ['web-host']],
    ['crashloop', ['crash-host']],
    ['exit code 1', ['crash-host']],
    ['server', ['web-host']],
    ['nothing has this', []],
  ])('apply the filter %s', (filter, found) => {
    expect(pods({ filter })).toEqual(found);
    expect(pods({ draftFilter: filter })).toEqual(found);
  });

  test('open the log and the help as separate pages', () => {
    const log = Array.from({ length: 100 }, (_, index) => `line ${index}`);
    const page = frame(all, on(80, 10), { log, controls: { page: 'log', offset: Number.POSITIVE_INFINITY } });
    expect(page.lines.at(-2)).toBe('line 99');
    expect(page.lines.at(-1)).toMatch(/^93-100 of 100 /);
    expect(frame(all, on(80, 30), { controls: { page: 'help' } }).lines.join('\n')).toContain('Ctrl-C');
  });

  test('do not affect the final output, which is the whole table regardless of the terminal height', () => {
    const last = renderFinal(sceneOf(all, { controls: { offset: 3 } }), on(80, 5)).join('\n');
    for (const name of ['web-host', 'crash-host', 'batch/job-host', 'late-host']) expect(last).toContain(name);
    expect(last).not.toContain('scroll');
  });
});

test('colors do not change the text', () => {
  const scene = sceneOf(all, { log: ['told'] });
  const [plain, coloured] = [false, true].map((colour) =>
    renderFrame(scene, { ...on(80, 40), colour }).lines.join('\n'),
  );
  expect(coloured).not.toBe(plain);
  expect(coloured?.replace(new RegExp(`${ESC}\\[\\d+m`, 'g'), '')).toBe(plain);
});
