import { expect, test } from '@jest/globals';
import { NodeFailure, toFailure } from '../../../../base/failure.ts';
import { registerClaimMetrics } from '../../../../kubelet-api/metrics/agent/claimMetrics.ts';
import { registerServiceActionMetrics } from '../../../../kubelet-api/metrics/agent/serviceActionMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { podWith } from '../../../fakes/pods.ts';
import { scraped } from '../support/scraped.ts';

const pod = podWith('web');
const failure = toFailure(new NodeFailure('FailedPrepareDynamicResources', 'no'), 0);

async function samples(registry: Registry, family: string): Promise<Record<string, number>> {
  const read = (await scraped(registry)).get(family);
  return Object.fromEntries([...(read?.samples ?? [])].filter(([series]) => !series.includes('_bucket')));
}

test('C42: the operations on the claims of pods are measured by their result', async () => {
  const registry = new Registry(() => {});
  const { recordPortOutcome } = registerClaimMetrics(registry);
  recordPortOutcome({ port: 'prepareClaims', input: { pod }, ms: 500, output: null });
  recordPortOutcome({ port: 'prepareClaims', input: { pod }, ms: 1_500, failure });
  recordPortOutcome({ port: 'unprepareClaims', input: { pod }, ms: 250, output: null });
  recordPortOutcome({ port: 'removeCgroup', input: { pod, ran: [] }, ms: 250, output: null });
  const name = 'dra_operations_duration_seconds';
  expect(await samples(registry, name)).toEqual({
    [`${name}_sum{operation_name="PrepareResources",is_error="false"}`]: 0.5,
    [`${name}_count{operation_name="PrepareResources",is_error="false"}`]: 1,
    [`${name}_sum{operation_name="PrepareResources",is_error="true"}`]: 1.5,
    [`${name}_count{operation_name="PrepareResources",is_error="true"}`]: 1,
    [`${name}_sum{operation_name="UnprepareResources",is_error="false"}`]: 0.25,
    [`${name}_count{operation_name="UnprepareResources",is_error="false"}`]: 1,
  });
});

test('C42: the calls to drivers are measured by driver, method and status code', async () => {
  const registry = new Registry(() => {});
  const onServiceAction = registerServiceActionMetrics(registry);
  onServiceAction({ action: 'driverCalled', driver: 'gpu', method: '/Prepare', code: 'Internal', ms: 2_000 });
  const labels = '{driver_name="gpu",method_name="/Prepare",grpc_status_code="Internal"}';
  expect(await samples(registry, 'dra_grpc_operations_duration_seconds')).toEqual({
    [`dra_grpc_operations_duration_seconds_sum${labels}`]: 2,
    [`dra_grpc_operations_duration_seconds_count${labels}`]: 1,
  });
});

test('C42: the prepared claims are counted by driver, and a driver without any has no series', async () => {
  const registry = new Registry(() => {});
  const { update } = registerClaimMetrics(registry);
  const series = (driver: string) => `dra_resource_claims_in_use{driver_name="${driver}"}`;
  update({
    claims: new Map([
      [undefined, 2],
      ['gpu', 2],
      ['nic', 1],
    ]),
  });
  expect(await samples(registry, 'dra_resource_claims_in_use')).toEqual({
    [series('<any>')]: 2,
    [series('gpu')]: 2,
    [series('nic')]: 1,
  });
  update({ claims: new Map([[undefined, 0]]) });
  expect(await samples(registry, 'dra_resource_claims_in_use')).toEqual({ [series('<any>')]: 0 });
});
