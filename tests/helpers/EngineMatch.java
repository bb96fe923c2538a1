import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;

/**
 * Plays games of a player against itself in the challenge's own engine, and prints what happened:
 * java EngineMatch CLASSPATH CLASS GAMES.
 *
 * <p>One line a game: winner, deals, void, gin, knock and undercut by player 0, the same by player
 * 1. A listener around player 0 hears what the engine reports; the engine is used by reflection.
 */
public final class EngineMatch {
    private int deals, empty, knocker, melded;
    private final int[] scores = new int[2], gin = new int[2], knock = new int[2];
    private final int[] undercut = new int[2];

    private void hear(String method, Object[] given) {
        switch (method) {
            case "startGame":
                deals++;
                knocker = -1;
                break;
            case "reportFinalMelds":
                if (knocker < 0) { // the first to lay down
                    knocker = (Integer) given[0];
                    melded = 0;
                    for (Object meld : (List<?>) given[1]) {
                        melded += ((List<?>) meld).size();
                    }
                }
                break;
            case "reportScores":
                int[] now = (int[]) given[0];
                int winner = now[0] > scores[0] ? 0 : 1;
                if (knocker < 0) {
                    empty++;
                } else if (melded == 10) {
                    gin[knocker]++;
                } else if (winner == knocker) {
                    knock[knocker]++;
                } else {
                    undercut[winner]++;
                }
                scores[0] = now[0];
                scores[1] = now[1];
                break;
            default:
        }
    }

    public static void main(String[] arguments) throws Exception {
        int games = Integer.parseInt(arguments[2]);
        URL[] path = {new File(arguments[0]).toURI().toURL()};
        ClassLoader loader = new URLClassLoader(path);
        Class<?> type = loader.loadClass("ginrummy.GinRummyPlayer");
        Class<?> engine = loader.loadClass("ginrummy.GinRummyGame");
        Constructor<?> player = loader.loadClass(arguments[1]).getDeclaredConstructor();
        Method play = engine.getMethod("play");
        engine.getMethod("setPlayVerbose", boolean.class).invoke(null, false);
        for (int number = 0; number < games; number++) {
            EngineMatch match = new EngineMatch();
            Object first = player.newInstance(), second = player.newInstance();
            Object heard = Proxy.newProxyInstance(loader, new Class<?>[] {type}, (me, method, given) -> {
                match.hear(method.getName(), given);
                try {
                    return method.invoke(first, given);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            });
            Object winner = play.invoke(engine.getConstructor(type, type).newInstance(heard, second));
            StringBuilder line = new StringBuilder(winner + "," + match.deals + "," + match.empty);
            for (int side = 0; side < 2; side++) {
                line.append("," + match.gin[side] + "," + match.knock[side] + "," + match.undercut[side]);
            }
            System.out.println(line);
        }
    }
}
