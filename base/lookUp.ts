/**
 * What stands in a map under a name from outside. Such a map is a plain object where it has to survive JSON, and every
 * plain object also answers to `constructor` and `toString`, which a pod, a container or a volume may be called:
 * so it is read here or by `Object.hasOwn` alone, and never written at such a name but rebuilt (`{ ...map, [name]: value }`).
 */
export const lookUp = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
