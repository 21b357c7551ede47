/** Strategies of ResourceClaims and ResourceSlices (`registry/resource` of kubernetes). */
import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { invalidValue } from '../../failures/causes.ts';
import { textAt } from '../../json.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';
import { IMMUTABLE, specOf, withFields, withFieldsOf } from './parts.ts';

export const resourceClaimStrategy: Strategy = {
  ...plainStrategy,
  created: (claim) => withFields(claim, { status: undefined }),
  updated: (claim, before) => withFieldsOf(claim, before, ['status']),
  updateCauses: (claim, before) =>
    isJsonEqual(specOf(claim), specOf(before)) ? [] : [invalidValue('spec', lookUp(claim, 'spec') ?? null, IMMUTABLE)],
};

export const resourceSliceStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([
    ['spec.nodeName', (slice) => textAt(specOf(slice), 'nodeName')],
    ['spec.driver', (slice) => textAt(specOf(slice), 'driver')],
  ]),
};
