import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { openLiveView } from '../../cli/liveTable.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { backOff, NOW, podView, running, sandbox, waiting } from '../pod/views.ts';

beforeEach(() => {
  jest.useFakeTimers({ now: NOW });
});

afterEach(() => {
  jest.useRealTimers();
});

function output(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 80, rows: 24, written, write: (text: string) => written.push(text) };
}

const view = { sandbox: sandbox('10.1.0.2') };
const starting = podView({ main: { web: waiting() }, meta: { name: 'web-host', uid: 'w' }, view });
const ready = podView({ main: { web: running() }, meta: { name: 'web-host', uid: 'w' }, view });
const crashing = podView({ main: { web: backOff(1) }, meta: { name: 'crash-host', uid: 'c' }, view });

describe('without a terminal', () => {
  test('each change is a line, and so is the moment that all pods run', () => {
    const agent = fakeAgent({ now: NOW, views: [starting, crashing] });
    const out = output(false);
    const live = openLiveView(out);
    live.follow(agent);
    expect(out.written[0]).toBe('12:02:56Z pod/web-host running, phase Pending, IP 10.1.0.2\n');
    expect(out.written.join('')).not.toContain('node ready');
    agent.show(ready);
    agent.show(ready);
    expect(out.written.at(-1)).toBe('12:02:56Z pod/web-host container/web running (was waiting)\n');
    jest.advanceTimersByTime(900);
    agent.show(starting);
    agent.show(ready);
    jest.advanceTimersByTime(900);
    expect(out.written.join('')).not.toContain('node ready');
    jest.advanceTimersByTime(250);
    expect(out.written.at(-1)).toBe('node ready: 1/1 pods running\n');
    agent.show(starting);
    agent.show(ready);
    jest.advanceTimersByTime(5000);
    expect(out.written.filter((line) => line.startsWith('node ready'))).toHaveLength(1);
    live.close();
    expect(agent.subscribers()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a simulated runtime is in every line', () => {
    const out = output(false);
    openLiveView(out).follow(fakeAgent({ now: NOW, views: [ready], node: { simulated: true } }));
    jest.advanceTimersByTime(2000);
    expect(out.written.length).toBeGreaterThan(2);
    expect(out.written.filter((line) => !line.includes('simulated'))).toEqual([]);
  });

  test('a node that has not read all its pods yet is not ready', () => {
    const agent = fakeAgent({ now: NOW, views: [ready], node: { state: 'recovering' } });
    const out = output(false);
    openLiveView(out).follow(agent);
    jest.advanceTimersByTime(3000);
    expect(out.written.join('')).not.toContain('node ready');
    agent.become({ state: 'running' });
    jest.advanceTimersByTime(2000);
    expect(out.written.at(-1)).toBe('node ready: 1/1 pods running\n');
  });
});

describe('on a terminal', () => {
  test('any number of changes are at most ten drawings a second', () => {
    const agent = fakeAgent({ now: NOW, views: [starting] });
    const out = output(true);
    const live = openLiveView(out);
    live.follow(agent);
    const before = out.written.length;
    for (let change = 0; change < 500; change++) {
      agent.show({ ...starting, state: `step${change}` });
      jest.advanceTimersByTime(2);
    }
    expect(out.written.length - before).toBeGreaterThan(5);
    expect(out.written.length - before).toBeLessThanOrEqual(10);
    live.close();
  });

  test('a table that stays the same is not drawn, but its times go on', () => {
    const out = output(true);
    openLiveView(out).follow(fakeAgent({ now: NOW, views: [starting] }));
    const before = out.written.length;
    jest.advanceTimersByTime(10_000);
    expect(out.written.length - before).toBeGreaterThanOrEqual(5);
    expect(out.written.length - before).toBeLessThanOrEqual(10);
  });

  test('closing draws the last state and gives the cursor back', () => {
    const agent = fakeAgent({ now: NOW, views: [starting] });
    const out = output(true);
    const live = openLiveView(out);
    live.follow(agent);
    agent.show({ ...starting, state: 'terminating' });
    live.close();
    expect(out.written.at(-2)).toContain('terminating');
    expect(out.written.at(-1)).toBe('\x1b[?25h');
    expect(agent.subscribers()).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
