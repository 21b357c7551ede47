import { describe, expect, test } from '@jest/globals';
import type { LivePod } from '../../../cli/table/liveRows.ts';
import { renderTable } from '../../../cli/table/render.ts';
import type { PodView } from '../../../pod/view.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { backOff, exited, NOW, podView, running, sandbox, volumeView, waiting } from '../../pod/views.ts';

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
      state: 'backingOff',
      since: NOW - 3000,
      restartCount: 2,
      waitingFor: 'the back-off before the next start',
      until: NOW + 17_000,
      lastFailure: { reason: 'Error', message: 'exit code 1', at: NOW - 3000 },
    }),
  },
  meta: { name: 'crash-host', uid: 'b' },
  view: { sandbox: sandbox('10.88.0.6') },
});
const job = podView({
  main: { job: exited(0, { state: 'stopped' }) },
  meta: { name: 'job-host', uid: 'c', namespace: 'batch' },
  spec: { restartPolicy: 'Never' },
  view: { state: 'terminated', ended: true },
});
const late = podView({
  main: { app: waiting('ContainerCreating', { state: 'waiting' }) },
  meta: { name: 'late-host', uid: 'd' },
  view: {
    state: 'preparing',
    since: NOW - 130_000,
    waitingFor: 'its volumes',
    volumes: [volumeView('data', { state: 'mounting', mounted: false, waitingFor: 'the mount', until: NOW + 30_000 })],
  },
});

function render(views: readonly PodView[], surface: { width: number; height: number }, node = {}): string[] {
  const agent = fakeAgent({ now: NOW, views, node });
  const pods = agent.pods().flatMap((pod): LivePod[] => {
    const view = views.find((each) => each.pod.metadata.uid === pod.metadata.uid);
    return view ? [{ pod, view }] : [];
  });
  return renderTable(agent.node(), pods, NOW, { ...surface, colour: false });
}

const all = [web, crash, job, late];

describe('the live table', () => {
  test('at 120 columns', () => {
    expect(render(all, { width: 120, height: 40 })).toEqual([
      'node host running · containerd v1.6.20 ready for 60s · 2/3 pods running',
      'NAME                 PHASE              STATE       SINCE  RESTARTS  IP         WAITING FOR',
      'batch/job-host       Succeeded          terminated  2m10s         0',
      '└ container/job      Completed          stopped       60s         0',
      'crash-host           Running            running     2m10s         2  10.88.0.6',
      '└ container/fail     CrashLoopBackOff   backingOff     3s         2             17s left: the back-off before the next …',
      'late-host            Pending            preparing   2m10s         0             its volumes',
      '├ container/app      ContainerCreating  waiting       60s         0',
      '└ volume/data                           mounting     2m9s                       30s left: the mount',
      'web-host             Running            running       11s         0  10.88.0.5',
      '├ container/server                      running       12s         0',
      '├ container/content                     running       11s         0',
      '└ volume/pages                          mounted      2m9s',
    ]);
  });

  test('at 80 columns', () => {
    expect(render(all, { width: 80, height: 40 })).toEqual([
      'node host running · containerd v1.6.20 ready for 60s · 2/3 pods running',
      'NAME                 PHASE              STATE       SINCE  RESTARTS  IP',
      'batch/job-host       Succeeded          terminated  2m10s         0',
      '└ container/job      Completed          stopped       60s         0',
      'crash-host           Running            running     2m10s         2  10.88.0.6',
      '└ container/fail     CrashLoopBackOff   backingOff     3s         2',
      'late-host            Pending            preparing   2m10s         0',
      '├ container/app      ContainerCreating  waiting       60s         0',
      '└ volume/data                           mounting     2m9s',
      'web-host             Running            running       11s         0  10.88.0.5',
      '├ container/server                      running       12s         0',
      '├ container/content                     running       11s         0',
      '└ volume/pages                          mounted      2m9s',
    ]);
  });

  test.each([40, 60, 80, 100, 120, 200])('no line is wider than %i columns', (width) => {
    expect(Math.max(...render(all, { width, height: 40 }).map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  const probing = podView({
    main: { 'a-container-of-a-long-name': running({ state: 'running.probing', waitingFor: 'x'.repeat(60) }) },
    meta: { name: 'a-pod-with-quite-a-long-name', uid: 'e' },
    view: { sandbox: sandbox('10.88.0.9'), state: 'initializing.x' },
  });

  test.each([80, 110])('at %i columns neither a phase nor a usual state is cut', (width) => {
    const lines = render([crash, probing], { width, height: 40 });
    const [pod = '', container = '', crashed = ''] = lines.slice(2);
    expect(pod).toMatch(/ Running {2,}initializing\.x /);
    expect(lines.join()).toContain('CrashLoopBackOff  backingOff');
    expect(container).toContain('running.probi');
    expect(crashed).toMatch(/10\.88\.0\.6$/);
  });

  test('without pods there is no table', () => {
    expect(render([], { width: 80, height: 40 })).toEqual([
      'node host running · containerd v1.6.20 ready for 60s · 0/0 pods running',
    ]);
  });

  test('a simulated runtime is labelled', () => {
    const lines = render([web], { width: 80, height: 40 }, { simulated: true });
    expect(lines[1]).toBe('SIMULATED runtime: no real containers run');
  });

  test('manifests with problems and sandboxes of others stand below', () => {
    const problems = [{ file: '/etc/pods/a.yaml', path: 'spec.containers', message: 'required' }];
    const lines = render([web], { width: 80, height: 40 }, { problems, foreign: [sandbox()] });
    expect(lines.slice(-2)).toEqual([
      '! /etc/pods/a.yaml: spec.containers: required',
      '1 sandbox of others left alone',
    ]);
  });
});

describe('a terminal that is not high enough', () => {
  const names = (height: number) =>
    render(all, { width: 80, height })
      .slice(2)
      .map((line) => line.split(/ {2,}/)[0]);

  test('first hides volumes that are mounted', () => {
    expect(names(13)).toContain('└ volume/pages');
    const hidden = names(12);
    expect(hidden).not.toContain('└ volume/pages');
    expect(hidden).toEqual(expect.arrayContaining(['└ volume/data', '├ container/server', '└ container/content']));
  });

  test('then all actors but those in trouble', () => {
    expect(names(11)).toEqual(['batch/job-host', 'crash-host', '└ container/fail', 'late-host', 'web-host']);
  });

  test('then all but the pods', () => {
    expect(names(6)).toEqual(['batch/job-host', 'crash-host', 'late-host', 'web-host']);
  });

  test('at last even pods, and says how many', () => {
    expect(names(5)).toEqual(['batch/job-host', 'crash-host', '… and 2 more pods: "statelet get pods" shows all']);
  });

  test.each([4, 5, 6, 7, 8, 9, 10, 11, 12, 20])('at most %i lines are drawn', (height) => {
    expect(render(all, { width: 80, height }).length).toBeLessThanOrEqual(height);
  });
});

test('colours change nothing but the colour', () => {
  const agent = fakeAgent({ now: NOW, views: [web] });
  const [pod] = agent.pods();
  const pods = pod ? [{ pod, view: web }] : [];
  const [plain, coloured] = [false, true].map((colour) =>
    renderTable(agent.node(), pods, NOW, { width: 80, height: 40, colour }).join('\n'),
  );
  expect(coloured).toContain('\x1b[32m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
  expect(coloured?.replace(/\x1b\[\d+m/g, '')).toBe(plain);
});
