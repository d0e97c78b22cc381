export { type LogBounds, type LogLevel, type LogLine, type LogSearch, pageOfLogFiles, searchLogFiles } from './search.ts'
export { type LogFileWriter, openLogFiles } from './write.ts'
