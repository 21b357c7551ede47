/** Each file of the product has its test at the same path below test/, or is named here with the test that goes through it. */
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { productFiles, type Source, sources } from './support/tree.ts';

/** Files, or all of a folder (`…/`) that have no test of their own, and the test that they are seen through. */
const THROUGH: Readonly<Record<string, string | readonly string[]>> = {
  'actors/boundary.ts': 'test/actors/boundary.test.ts',
  'actors/checkNode.ts': 'test/index.test.ts',
  'actors/createNode.ts': 'test/index.test.ts',
  'actors/guarded.ts': 'test/actors/guarded.test.ts',
  'actors/nodeAgent.ts': 'test/actors/podLife.test.ts',
  'actors/nodeConfig.ts': 'test/index.test.ts',
  'actors/nodeFeeds.ts': 'test/actors/podLife.test.ts',
  'actors/nodeServices.ts': 'test/actors/adoption.test.ts',
  'actors/replay.ts': 'test/actors/boundary.test.ts',
  'actors/events/': 'test/actors/events/eventRecorder.test.ts',
  'actors/feeds/alarm.ts': 'test/actors/runtime/pleg.test.ts',
  'actors/feeds/nodeFacts.ts': 'test/actors/feeds/nodeFacts.test.ts',
  'actors/runtime/pleg.ts': 'test/actors/runtime/pleg.test.ts',
  'actors/services/': ['test/actors/callFaults.test.ts', 'test/actors/services/logTails.test.ts'],
  'actors/simulated/startSimulatedNode.ts': 'test/index.test.ts',
  'actors/sources/': ['test/actors/sources/fileSource.test.ts', 'test/index.test.ts'],
  'actors/sources/yaml/': 'test/actors/sources/hostileManifests.test.ts',
  'actors/status/heldChanges.ts': 'test/actors/status/heldChanges.test.ts',
  'actors/status/since.ts': 'test/actors/podLife.test.ts',
  'actors/store/factWriter.ts': 'test/actors/status/heldChanges.test.ts',
  'actors/store/leftOnDisk.ts': 'test/actors/adoption.test.ts',
  'actors/store/storeBatches.ts': 'test/actors/store/store.test.ts',
  'actors/store/storeFiles.ts': 'test/actors/store/store.test.ts',
  'cli/': 'test/cli/process.test.ts',
  'cli/table/': ['test/cli/table/render.test.ts', 'test/cli/program.test.ts'],
  'cri/': ['test/cri/containerConfig.test.ts', 'test/cri/dns.test.ts'],
  'cri/failure.ts': 'test/cri/grpc.test.ts',
  'cri/method.ts': 'test/cri/grpc.test.ts',
  'cri/unary.ts': 'test/cri/grpc.test.ts',
  'cri/managed/': 'test/e2e/managed.test.ts',
  'cri/simulated/': ['test/cri/simulated/operations.test.ts', 'test/cri/simulated/faults.test.ts'],
  'host/cgroup/': 'test/host/cgroup/podCgroups.test.ts',
  'host/files/': 'test/volume/subPaths.test.ts',
  'host/files/expectDirectory.ts': 'test/cli/ownRuntime.test.ts',
  'host/ownScript.ts': 'test/volume/program.test.ts',
  'host/pods/takePodDirectory.ts': 'test/actors/store/ownership.test.ts',
  'machines/admission/context.ts': 'test/machines/admission/chart.test.ts',
  'machines/container/': 'test/machines/container/chart.test.ts',
  'machines/container/states/': 'test/machines/container/chart.test.ts',
  'machines/drawing/': 'test/machines/drawing/mermaid.test.ts',
  'machines/image/': ['test/machines/image/chart.test.ts', 'test/actors/hangingPulls.test.ts'],
  'machines/node/': 'test/machines/node/chart.test.ts',
  'machines/node/states/': 'test/machines/node/chart.test.ts',
  'machines/pod/': 'test/machines/pod/chart.test.ts',
  'machines/pod/states/': 'test/machines/pod/chart.test.ts',
  'machines/probe/': 'test/machines/container/chart.test.ts',
  'machines/shared/': 'test/machines/pod/chart.test.ts',
  'machines/volume/': 'test/machines/volume/chart.test.ts',
  'node/': 'test/cli/process.test.ts',
  'node/config/': 'test/node/config/nodeConfig.test.ts',
  'node/config/parts/': 'test/node/config/kubeletConfiguration.test.ts',
  'pod/': 'test/pod/status/status.test.ts',
  'pod/admission/node.ts': 'test/pod/admission/decide.test.ts',
  'pod/api/': ['test/pod/api/validate.test.ts', 'test/cli/version.test.ts'],
  'pod/api/schema/': ['test/pod/api/validate.test.ts', 'test/pod/api/runtimeClass.test.ts'],
  'pod/api/validation/': 'test/pod/api/validate.test.ts',
  'pod/events/': 'test/pod/events/eventTable.test.ts',
  'pod/images/pullPolicy.ts': 'test/pod/api/defaults.test.ts',
  'pod/lifecycle/observed.ts': 'test/pod/lifecycle/sandboxDecision.test.ts',
  'pod/node/': ['test/pod/node/nodeTable.test.ts', 'test/cri/dns.test.ts'],
  'pod/resources/': [
    'test/pod/status/containerStatuses.test.ts',
    'test/machines/admission/chart.test.ts',
    'test/host/cgroup/podCgroups.test.ts',
  ],
  'pod/show/': [
    'test/pod/show/explainNode.test.ts',
    'test/pod/node/nodeTable.test.ts',
    'test/cli/table/render.test.ts',
    'test/pod/show/describe/pod.test.ts',
  ],
  'pod/show/describe/': 'test/pod/show/describe/pod.test.ts',
  'pod/status/': 'test/pod/status/status.test.ts',
  'server/': 'test/server/socket.test.ts',
  'volume/': ['test/volume/subPaths.test.ts', 'test/volume/program.test.ts'],
};

/** Those that are a program of their own, and the test that runs it. */
const RUN_BY: Readonly<Record<string, string>> = {
  'actors/sources/manifestWorker.ts': 'test/actors/sources/manifestReader.test.ts',
  'cli/bin.mjs': 'test/cli/launcher.test.ts',
  'cli/main.ts': 'test/cli/process.test.ts',
};

const files = new Set(sources.map(({ file }) => file));
const testOf = (file: string): string => `test/${file.replace(/\.[a-z]+$/, '.test.ts')}`;
const hasValues = ({ text }: Source): boolean => /^export (default|async|function|const|class|let|\{)/m.test(text);
const isAlone = (each: Source): boolean =>
  hasValues(each) && !files.has(testOf(each.file)) && !Object.hasOwn(RUN_BY, each.file);
const alone = productFiles.filter(isAlone).map(({ file }) => file);

const imports = new Map(
  sources.map(({ file, text }) => {
    const found = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)];
    const run = Object.keys(RUN_BY).filter((each) => RUN_BY[each] === file);
    return [file, [...run, ...found.map(([, path = '']) => join(dirname(file), path))]];
  }),
);

/** All that a file leads to by its imports. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const next of imports.get(file) ?? []) reached(next, seen);
  return seen;
}

const claimed = (file: string): string | undefined =>
  Object.hasOwn(THROUGH, file) ? file : Object.keys(THROUGH).find((key) => key === `${dirname(file)}/`);

test('each file has its test, or is named', () => {
  expect(alone.filter((file) => claimed(file) === undefined)).toEqual([]);
});

test('what is named has no test of its own, and is there', () => {
  const used = new Set(alone.map(claimed));
  expect(Object.keys(THROUGH).filter((key) => !used.has(key))).toEqual([]);
  expect([...Object.keys(RUN_BY), ...Object.values(RUN_BY)].filter((file) => !files.has(file))).toEqual([]);
});

describe('what is named is led to by its test', () => {
  test.each(Object.entries(THROUGH))('%s by %s', (key, by) => {
    const led = new Set([by].flat().flatMap((each) => [...reached(each)]));
    const named = alone.filter((file) => claimed(file) === key);
    expect(named.filter((file) => !led.has(file))).toEqual([]);
  });
});
