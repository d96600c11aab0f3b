// Prints what Grafana's jfr-parser sees in recordings, in the form that tests/other_readers.rs compares.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/grafana/jfr-parser/parser"
	"github.com/grafana/jfr-parser/parser/types"
	"github.com/grafana/jfr-parser/pprof"
)

func main() {
	for _, path := range os.Args[1:] {
		bytes, err := os.ReadFile(path)
		if err == nil {
			fmt.Println("file", path)
			err = events(bytes)
		}
		if err == nil {
			err = profiles(bytes)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			os.Exit(1)
		}
	}
}

func events(bytes []byte) error {
	p := parser.NewParser(bytes, parser.Options{})
	counts := map[string]int{}
	for {
		id, err := p.ParseEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch id {
		case p.TypeMap.T_EXECUTION_SAMPLE:
			counts["jdk.ExecutionSample"]++
			s := &p.ExecutionSample
			sample(p, "jdk.ExecutionSample", s.SampledThread, s.State, s.StackTrace, 1)
		case p.TypeMap.T_WALL_CLOCK_SAMPLE:
			counts["profiler.WallClockSample"]++
			s := &p.WallClockSample
			sample(p, "profiler.WallClockSample", s.SampledThread, s.State, s.StackTrace, s.Samples)
		case p.TypeMap.T_ALLOC_IN_NEW_TLAB:
			counts["jdk.ObjectAllocationInNewTLAB"]++
		case p.TypeMap.T_ALLOC_OUTSIDE_TLAB:
			counts["jdk.ObjectAllocationOutsideTLAB"]++
		case p.TypeMap.T_ALLOC_SAMPLE:
			counts["jdk.ObjectAllocationSample"]++
		case p.TypeMap.T_MONITOR_ENTER:
			counts["jdk.JavaMonitorEnter"]++
		case p.TypeMap.T_THREAD_PARK:
			counts["jdk.ThreadPark"]++
		case p.TypeMap.T_ACTIVE_SETTING:
			counts["jdk.ActiveSetting"]++
		}
	}
	for name, count := range counts {
		fmt.Println("count", name, count)
	}
	return nil
}

func sample(p *parser.Parser, kind string, thread types.ThreadRef, state types.ThreadStateRef, stack types.StackTraceRef, weight uint32) {
	name, stateName := "", ""
	if index, ok := p.Threads.IDMap[thread]; ok {
		name = p.Threads.Thread[index].JavaName
		if name == "" {
			name = p.Threads.Thread[index].OsName
		}
	}
	if s := p.GetThreadState(state); s != nil {
		stateName = s.Name
	}
	var frames []string
	if trace := p.GetStacktrace(stack); trace != nil {
		for _, frame := range trace.Frames {
			method := p.GetMethod(frame.Method)
			class := p.GetClass(method.Type)
			text := strings.ReplaceAll(p.GetSymbolString(class.Name), "/", ".") + "." + p.GetSymbolString(method.Name)
			frames = append(frames, fmt.Sprintf("%s:%d", escape(text), int32(frame.LineNumber)))
		}
	}
	fmt.Printf("sample %s %s %s %s %d\n", kind, escape(name), escape(stateName), strings.Join(frames, ";"), weight)
}

// profiles prints the sum of the first value of each pprof profile.
func profiles(bytes []byte) error {
	now := time.Now()
	input := &pprof.ParseInput{StartTime: now, EndTime: now, SampleRate: 1_000_000_000}
	result, err := pprof.ParseJFR(bytes, input, nil)
	if err != nil {
		return err
	}
	for _, profile := range result.Profiles {
		sum := int64(0)
		for _, s := range profile.Profile.Sample {
			sum += s.Value[0]
		}
		kind := profile.Profile.StringTable[profile.Profile.SampleType[0].Type]
		fmt.Println("count", "pprof:"+kind, sum)
	}
	return nil
}

// escape leaves letters, digits and a few signs; every other byte becomes %XX.
func escape(text string) string {
	out := strings.Builder{}
	for _, b := range []byte(text) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("._-$/", b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}
