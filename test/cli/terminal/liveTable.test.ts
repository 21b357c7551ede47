import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openLiveView } from '../../../cli/terminal/liveTable.ts';
import { terminalView } from '../../../cli/terminal/terminalView.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { backOff, NOW, podView, running, type ShownPod, sandbox, waiting } from '../../kubernetes/views.ts';
import { seenOn } from '../support/terminal.ts';

beforeEach(() => {
  jest.useFakeTimers({ now: NOW });
});

afterEach(() => {
  jest.useRealTimers();
});

function output(isTTY: boolean) {
  const written: string[] = [];
  const resized = new EventEmitter();
  return {
    isTTY,
    columns: 80,
    rows: 24,
    written,
    write: (text: string) => written.push(text),
    on: (event: string, listener: () => void) => resized.on(event, listener),
    off: (event: string, listener: () => void) => resized.off(event, listener),
    emit: (event: string) => resized.emit(event),
    seen: () => seenOn(written.join('')),
  };
}

const view = { sandbox: sandbox('10.1.0.2') };
const starting = podView({ main: { web: waiting() }, meta: { name: 'web-host', uid: 'w' }, view });
const ready = podView({ main: { web: running() }, meta: { name: 'web-host', uid: 'w' }, view });
const crashing = podView({ main: { web: backOff(1) }, meta: { name: 'crash-host', uid: 'c' }, view });

/** Returns the messages of the written log lines. */
const messagesOf = ({ written }: { readonly written: readonly string[] }) =>
  written.map((line) => /\] "(.*)"\n$/.exec(line)?.[1] ?? line);

describe('the live view without a terminal', () => {
  test('prints messages in the log format, as JSON if the log is JSON', () => {
    const out = output(false);
    openLiveView(out, 'text').print('one\ntwo\n');
    expect(messagesOf(out)).toEqual(['one', 'two']);
    const json = output(false);
    openLiveView(json, 'json').print('one');
    expect(json.written.map((line) => JSON.parse(line))).toEqual([
      { ts: Date.parse('2026-05-04T12:02:56Z'), caller: 'statelet:1', msg: 'one', v: 0 },
    ]);
  });

  test('prints each change as a line, and a line when all pods are running', () => {
    const agent = fakeAgent({ now: NOW, views: [starting, crashing] });
    const out = output(false);
    const live = openLiveView(out, 'text');
    live.follow(agent);
    expect(out.written[0]).toMatch(/^I0504 \d\d:\d\d:56\.000000 +\d+ \S+:\d+\] ".*"\n$/);
    expect(messagesOf(out)[0]).toBe('pod/web-host running, phase Pending, IP 10.1.0.2');
    expect(out.written.join('')).not.toContain('node ready');
    agent.show(ready);
    agent.show(ready);
    expect(messagesOf(out).at(-1)).toBe('pod/web-host container/web running (was waiting)');
    jest.advanceTimersByTime(900);
    agent.show(starting);
    agent.show(ready);
    jest.advanceTimersByTime(900);
    expect(out.written.join('')).not.toContain('node ready');
    jest.advanceTimersByTime(250);
    expect(messagesOf(out).at(-1)).toBe('node ready: 1/2 pods running, 1 in CrashLoopBackOff (crash-host)');
    agent.show(starting);
    agent.show(ready);
    jest.advanceTimersByTime(5000);
    expect(messagesOf(out).filter((line) => line.startsWith('node ready'))).toHaveLength(1);
    live.close();
    expect(agent.subscribers()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('mentions a simulated runtime in every line', () => {
    const out = output(false);
    openLiveView(out, 'text').follow(fakeAgent({ now: NOW, views: [ready], node: { simulated: true } }));
    jest.advanceTimersByTime(2000);
    expect(out.written.length).toBeGreaterThan(2);
    expect(out.written.filter((line) => !line.includes('simulated'))).toEqual([]);
  });

  test('does not report a node as ready that has not read all its pods', () => {
    const agent = fakeAgent({ now: NOW, views: [ready], node: { state: 'awaitingSources' } });
    const out = output(false);
    openLiveView(out, 'text').follow(agent);
    jest.advanceTimersByTime(3000);
    expect(out.written.join('')).not.toContain('node ready');
    agent.become({ state: 'running' });
    jest.advanceTimersByTime(2000);
    expect(messagesOf(out).at(-1)).toBe('node ready: 1/1 pods running');
  });
});

describe('the live view on a terminal', () => {
  function shown(...views: ShownPod[]) {
    const agent = fakeAgent({ now: NOW, views });
    const out = output(true);
    const live = terminalView(out, { isInForeground: () => true });
    live.follow(agent);
    return { agent, out, live };
  }
  const table = (out: ReturnType<typeof output>) => (out.seen().other ?? []).join('\n');

  test('redraws at most ten times a second, however many changes there are', () => {
    const { agent, out, live } = shown(starting);
    const before = out.written.length;
    for (let change = 0; change < 500; change++) {
      agent.show({ ...starting, containers: [], state: `step${change}`, waitingFor: `step ${change}` });
      jest.advanceTimersByTime(2);
    }
    expect(out.written.length - before).toBeGreaterThan(5);
    expect(out.written.length - before).toBeLessThanOrEqual(10);
    live.close();
  });

  test('redraws at most once a second for a pod with a thousand containers', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const main = Object.fromEntries(names.map((name) => [name, running()]));
    const large = podView({ main, meta: { name: 'large-host', uid: 'l' }, view });
    const { agent, out, live } = shown(large);
    const before = out.written.length;
    for (let change = 0; change < 20; change++) {
      agent.show({ ...large, state: `step${change}`, waitingFor: `step ${change}` });
      jest.advanceTimersByTime(100);
    }
    expect(out.written.length - before).toBeGreaterThan(0);
    expect(out.written.length - before).toBeLessThanOrEqual(2);
    live.close();
  });

  test('does not redraw an unchanged table, except for its times', () => {
    const { out, live } = shown(starting);
    const before = out.written.length;
    jest.advanceTimersByTime(10_000);
    expect(out.written.length - before).toBeGreaterThanOrEqual(5);
    expect(out.written.length - before).toBeLessThanOrEqual(10);
    live.close();
  });

  test('fills a new size at once, without remains of the old one', () => {
    const { out, live } = shown(starting, ready, crashing);
    for (const [columns, rows] of [
      [40, 10],
      [200, 60],
      [0, 0],
    ] as const) {
      Object.assign(out, { columns, rows });
      out.emit('resize');
      const seen = out.seen().other ?? [];
      expect(seen).toHaveLength(rows || 24);
      expect(Math.max(...seen.map((line) => line.length))).toBeLessThanOrEqual(columns || 80);
      expect(seen.filter((line) => line.startsWith('node host'))).toHaveLength(1);
    }
    live.close();
  });

  test('prints messages below the table, and once each on the terminal after it', () => {
    const { out, live } = shown(ready);
    for (let line = 1; line <= 200; line++) live.print(`told ${line}`);
    jest.advanceTimersByTime(100);
    expect(table(out)).toContain('told 200');
    expect(table(out).match(/node host/g)).toHaveLength(1);
    live.close();
    const { normal } = out.seen();
    expect(normal.filter((line) => /^told \d+$/.test(line))).toEqual(
      Array.from({ length: 200 }, (_, index) => `told ${index + 1}`),
    );
  });

  test('shows the link to the page permanently, and on the terminal after the table', () => {
    const { out, live } = shown(ready);
    const url = 'http://127.0.0.1:10270/?token=0123456789abcdef0123456789abcdef';
    live.showPage(url);
    for (let line = 1; line <= 200; line++) live.print(`told ${line}`);
    jest.advanceTimersByTime(200);
    expect(table(out)).toContain(`page: ${url}`);
    Object.assign(out, { columns: 60 });
    out.emit('resize');
    expect(table(out).replaceAll('\n', '')).toContain(url);
    live.close();
    expect(out.seen().normal.slice(-3).join('')).toContain(url);
  });

  test('prints messages immediately before a node exists', () => {
    const out = output(true);
    const live = terminalView(out, { isInForeground: () => true });
    live.print('starting a private containerd');
    expect(out.seen()).toMatchObject({ normal: ['starting a private containerd'], other: undefined });
    live.close();
  });

  test('leaves the last table and restores the cursor and wrapping when it is closed, once', () => {
    const { agent, out, live } = shown(starting);
    agent.show({ ...starting, containers: [], waitingFor: 'the last thing' });
    live.close();
    const { normal, ...rest } = out.seen();
    expect(rest).toEqual({ other: undefined, cursorShown: true, wraps: true });
    expect(normal.join('\n')).toContain('the last thing');
    expect(agent.subscribers()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
    const before = out.written.length;
    live.close();
    expect(out.written).toHaveLength(before);
  });
});
