/** The environment variables, passed in: nothing in this library reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's value. Empty counts as unset, because compose files pass on what is not there as ''. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}
