/** A status of the node's with what others have said of the pod meanwhile (`mergePodStatus` of `pkg/kubelet/status`). */
import { lookUp } from '../lookUp.ts';
import { isOwnCondition } from './conditions.ts';
import type { StatusJson } from './statusPatch.ts';

/** What the node does not say stays as the server has it. */
const OF_OTHERS = ['qosClass', 'resourceClaimStatuses', 'extendedResourceClaimStatus', 'nominatedNodeName'] as const;

export function mergedStatus(server: StatusJson, own: StatusJson): StatusJson {
  const said = conditionsIn(own);
  const isSaid = (condition: StatusJson) => said.some((each) => typeOf(each) === typeOf(condition));
  const others = conditionsIn(server).filter((each) => !isOwnCondition(typeOf(each)) && !isSaid(each));
  const kept = OF_OTHERS.flatMap((name) => {
    const value = lookUp(server, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const conditions = [
    // What others have said meanwhile counts, not what the node has heard of it.
    ...said.map((each) => (isOwnCondition(typeOf(each)) ? each : (called(server, each) ?? each))).map(withProbeTime),
    ...others,
  ];
  return { ...own, ...Object.fromEntries(kept), ...(conditions.length > 0 ? { conditions } : {}) };
}

const conditionsIn = (status: StatusJson): StatusJson[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
};

const typeOf = (condition: StatusJson): string => String(lookUp(condition, 'type'));

const called = (status: StatusJson, condition: StatusJson): StatusJson | undefined =>
  conditionsIn(status).find((each) => typeOf(each) === typeOf(condition));

/** Nobody probes conditions: an API server says so with null. */
const withProbeTime = (condition: StatusJson): StatusJson => ({ lastProbeTime: null, ...condition });

const isObject = (value: unknown): value is StatusJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
