/** The recorded scenarios. */
import type { Scenario } from '../scenario.ts';
import { breakScenarios } from './breaks.ts';
import { objectScenarios } from './objects.ts';
import { podScenarios } from './pods.ts';
import { resourceScenarios } from './resources.ts';
import { staticScenarios } from './statics.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...staticScenarios,
  ...podScenarios,
  ...objectScenarios,
  ...resourceScenarios,
  ...breakScenarios,
];
