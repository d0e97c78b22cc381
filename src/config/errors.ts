// What a start with a wrong configuration says.

/** One problem a line, each naming the key, its value, and what was expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}
