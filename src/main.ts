#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.js';

process.exitCode = await runCommandLine(process.argv);
