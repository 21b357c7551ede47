/**
 * Returns the value of a map under a name that comes from outside the agent. Maps that must survive JSON are plain
 * objects, and every plain object inherits names such as `constructor` and `toString`, which a pod, a container or a
 * volume may also have. Therefore such maps are read only here or with `Object.hasOwn`, and are rebuilt (`{ ...map,
 * [name]: value }`) instead of written to.
 */
export const lookUp = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
