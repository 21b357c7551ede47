import { expect, test } from '@jest/globals';
import { NodeFailure, toFailure } from '../../../../base/failure.ts';
import { VolumeMetrics } from '../../../../kubelet-api/metrics/pods/volumeMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { podWith } from '../../../fakes/pods.ts';
import { samplesOf } from '../support/scraped.ts';

const failure = toFailure(new NodeFailure('FailedMount', 'no'), 0);
const pod = podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }] });

function stand() {
  const time = { now: 0 };
  const registry = new Registry();
  const metrics = new VolumeMetrics(registry, { monotonic: () => time.now });
  const attempt = (endsAt: number, outcome: { failure: typeof failure } | { output: null }) => {
    time.now = endsAt;
    const input = { pod, volume: 'scratch', limitMs: 60_000 };
    metrics.mounted({ port: 'mountVolume', input, ms: 1_000, ...outcome });
  };
  const mounts = async () => {
    const samples = await samplesOf(registry);
    const labels = '{plugin_name="kubernetes.io/empty-dir",operation_name="overall_volume_mount"}';
    return ['count', 'sum'].map((suffix) => samples.get(`volume_operation_total_seconds_${suffix}${labels}`));
  };
  return { metrics, attempt, mounts };
}

test('C42: the mount time of a volume starts with the first attempt and ends with the successful one', async () => {
  const { attempt, mounts } = stand();
  attempt(1_000, { failure });
  attempt(20_000, { failure });
  expect(await mounts()).toEqual([undefined, undefined]);
  attempt(30_000, { output: null });
  expect(await mounts()).toEqual([1, 30]);
  attempt(100_000, { output: null });
  expect(await mounts()).toEqual([2, 31]);
});

test('C42: the mount attempts of a removed pod are forgotten', async () => {
  const { metrics, attempt, mounts } = stand();
  attempt(1_000, { failure });
  metrics.forget(pod.metadata.uid);
  attempt(30_000, { output: null });
  expect(await mounts()).toEqual([1, 1]);
});
