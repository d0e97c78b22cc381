export { type LogBounds, type LogLevel, type LogLine, type LogSearch, searchLogFiles } from './search.ts'
export { type LogFileWriter, openLogFiles } from './write.ts'
